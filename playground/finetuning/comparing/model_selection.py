"""Which pre-trained model for which task? Each is tried on each, and their texts are compared.

"The data distribution of the downstream task should be approximate to" that of pre-training (Qiu et al. 2020,
arXiv:2003.08271, sec. 5.2), and a model that only reads both sides cannot write.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from statistics import fmean
from typing import TypedDict

import torch

from playground.errors import UserError
from playground.finetuning.comparing.compare import describe_same
from playground.finetuning.comparing.significance import judge, leader, top_two
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.input_format import format_for
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import pearson, ranks
from playground.finetuning.run.base import from_checkpoint
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.strategy import texts_for
from playground.training.checkpoint import Checkpoint
from playground.training.parallel.workers import computed_as_worker

TESTS, SAMPLE = 200, 200
"""Unseen texts of every task, and texts of it whose words are compared with those of pre-training."""


class TriedRun(TypedDict):
    """One run on one task."""

    run: str
    task: str
    alike: float
    """What the token frequencies of the task's texts and of pre-training have in common, 0 to 1."""

    accuracy: float | None
    """The mean over the seeds; null where the run cannot learn the task."""

    reason: str
    """Why the run cannot learn the task; otherwise empty."""

    values: tuple[float, ...]
    """The accuracy with each seed."""

    notices: tuple[str, ...]
    """What was left out of the texts or done otherwise than asked for."""


class ChoiceFacts(TypedDict):
    """Several runs, each tried on several tasks."""

    runs: list[str]
    tasks: list[str]
    cells: list[TriedRun]
    """Every run on every task."""

    best: dict[str, str]
    """By task, the run with the highest accuracy; tasks that no run can learn are left out."""

    verdicts: dict[str, str]
    """By task, whether the lead of the best run is larger than the noise between seeds."""

    said: str
    """The rank correlation of likeness and accuracy, in a sentence; empty for fewer than four cells."""


@computed_as_worker
def try_all(
    saved: Mapping[str, Checkpoint],
    tasks: Sequence[Task],
    spec: ComparisonSpec,
    batch_size: int = FinetuneConfig.batch_size,
) -> Generator[TriedRun]:
    """Every run on every task, by the first strategy of the spec at its largest number of labelled texts."""
    spec.check(spec.chosen)
    setting = FinetuneConfig(spec.steps, batch_size, input_format=spec.input_format, max_length=spec.max_length)
    [strategy, *_], size = spec.chosen, max(spec.train_sizes)
    for (run, one), task in product(saved.items(), tasks):
        alike, found = likeness(one, task), []
        base = replace(from_checkpoint(one), tokenizer=one.tokenizer, task=task)
        try:
            texts = texts_for(base.learner, task, [strategy], one.tokenizer, spec.input_format, spec.max_length)
            seeds = range(spec.seed, spec.seed + spec.seeds)
            tests = [texts(TESTS, seed, "test") for seed in seeds]  # of its own, as in a comparison
            for seed, test in zip(seeds, tests, strict=True):
                train = texts(size, seed, "train")
                *_, last = tune(replace(base, memory={}), strategy, train, test, setting, seed)
                assert isinstance(last, Result)
                found.append(last.accuracy)
            suited = format_for(base.learner.model.shape, spec.input_format, spec.max_length)
            notices = train.notices + test.notices + strategy.notices(base, train, test, suited)
            notices += describe_same(tests)
        except UserError as refused:
            yield _tried(run, task, alike, (), str(refused))
        else:
            yield _tried(run, task, alike, tuple(found), notices=notices)


def _tried(
    run: str, task: Task, alike: float, values: tuple[float, ...], reason: str = "", notices: tuple[str, ...] = ()
) -> TriedRun:
    return {
        "run": run, "task": task.name, "alike": alike, "accuracy": fmean(values) if values else None,
        "reason": reason, "values": values, "notices": notices,
    }  # fmt: skip


def likeness(saved: Checkpoint, task: Task) -> float:
    """What the token frequencies of a task's texts and of pre-training text have in common, 0 to 1.

    It is the sum of the smaller of both shares of every token; an unknown word counts as different.
    """
    text, tokenizer = saved.corpus.held_out, saved.tokenizer
    size = min(SAMPLE, task.examples or SAMPLE)
    asked = torch.tensor([k for item in task.items(size, 0, "train") for k in tokenizer.encode_words(item.words)])
    counts = (torch.bincount(ids, minlength=len(tokenizer)) for ids in (text.ids[text.maskable], asked))
    one, other = (count.double() / count.sum().clamp(min=1) for count in counts)
    return float(torch.minimum(one, other)[tokenizer.specials.words].sum())


def facts(tried: Sequence[TriedRun]) -> ChoiceFacts:
    """All cells, the best run of every task, whether its lead is noise, and whether likeness goes with accuracy."""
    runs, tasks = dict.fromkeys(one["run"] for one in tried), dict.fromkeys(one["task"] for one in tried)
    by_task = {task: [one for one in tried if one["task"] == task and one["accuracy"] is not None] for task in tasks}
    possible = {task: some for task, some in by_task.items() if some}
    values = {task: {one["run"]: one["values"] for one in some} for task, some in possible.items()}
    best = {task: [((task, one), (task, two)) for one, two in top_two(each)] for task, each in values.items()}
    every = {(task, run): found for task, each in values.items() for run, found in each.items()}
    judged = judge(every, [*chain.from_iterable(best.values())])
    return {
        "runs": list(runs),
        "tasks": list(tasks),
        "cells": list(tried),
        "best": {task: max(some, key=lambda one: one["accuracy"] or 0.0)["run"] for task, some in possible.items()},
        "verdicts": {task: leader(values[task], "run", [judged[pair] for pair in best[task]]) for task in possible},
        "said": _correlation(list(possible.values())),
    }


def _correlation(by_task: Sequence[Sequence[TriedRun]]) -> str:
    """The rank correlation of likeness and accuracy among the runs, both relative to the mean of their task."""
    pairs: list[tuple[float, float]] = []
    for some in by_task:
        if len(some) > 1:
            both = [(one["alike"], one["accuracy"] or 0.0) for one in some]
            alike, right = (fmean(values) for values in zip(*both, strict=True))
            pairs += [(one - alike, other - right) for one, other in both]
    if len(pairs) < 4:
        return ""
    together = pearson(*(ranks(torch.tensor(values, dtype=torch.double)) for values in zip(*pairs, strict=True)))
    return f"Rank correlation of likeness and accuracy, within tasks, over {len(pairs)} cells: {together:+.2f}."
