"""Lanes: one strategy with one seed each, one after another or in worker processes, with the same numbers."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import torch

from playground.example import Tokens
from playground.finetuning.base import Base
from playground.finetuning.strategy import Strategy
from playground.finetuning.task import Labelled
from playground.finetuning.tune import Outcome, Setting, Tuned, tune


@dataclass(frozen=True)
class Lane:
    """One strategy with one seed; `event` is its latest step or its outcome."""

    strategy: Strategy
    seed: int
    event: Tuned | Outcome


@dataclass(frozen=True)
class Work:
    """What all lanes of a comparison share: where they start, the labelled texts of each seed, the unseen texts."""

    base: Base
    train: Mapping[int, Labelled]
    test: Labelled
    setting: Setting

    def lane(self, strategy: Strategy, seed: int) -> Iterator[Lane]:
        """The events of one lane."""
        for event in tune(self.base, strategy, self.train[seed], self.test, self.setting, seed):
            yield Lane(strategy, seed, event)


def run(work: Work, jobs: Sequence[tuple[Strategy, int]], workers: int) -> Iterator[Lane]:
    """The events of all lanes, always in the order of the jobs."""
    if workers == 1:
        for job in jobs:
            yield from work.lane(*job)
        return
    rehearsed = any(strategy.rehearses for strategy, _ in jobs)
    text = Text(work.base.rehearse() if rehearsed else work.base.held_out)
    base = replace(work.base, rehearsal=work.base.rehearsal and text, memory={})
    pool = ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn"), _begin, (replace(work, base=base),))
    try:
        for done in [pool.submit(_lane, *job) for job in jobs]:
            yield from done.result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Text:
    """Text to rehearse that can travel to another process."""

    tokens: Tokens

    def __call__(self) -> Tokens:
        return self.tokens


_work: list[Work] = []


def _begin(work: Work) -> None:
    """What a worker does first: take what is shared; one thread each, for more would stand in each other's way."""
    torch.set_num_threads(1)
    _work[:] = [work]


def _lane(strategy: Strategy, seed: int) -> list[Lane]:
    return list(_work[0].lane(strategy, seed))
