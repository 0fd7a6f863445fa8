"""Which pre-trained model for which task? Each is tried on each, beside how alike their texts are.

"The data distribution of the downstream task should be approximate to" that of pre-training (Qiu et al. 2020,
arXiv:2003.08271, sec. 5.2), and a model that only reads both sides cannot write.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

import torch

from playground.batch import Tokens
from playground.errors import Refusal
from playground.finetuning.comparing.significance import leader
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import pearson, ranks
from playground.finetuning.run.base import from_checkpoint
from playground.finetuning.run.trainer import FinetuneConfig, Result, tune
from playground.finetuning.strategy.compatibility import texts_for
from playground.finetuning.strategy.strategy import Strategy
from playground.training.checkpoint import Checkpoint

TESTS = 200
"""Unseen texts of every task."""

SAMPLE = 200
"""Texts of a task whose words are compared with those of pre-training."""


@dataclass(frozen=True)
class TriedRun:
    """One run on one task: mean accuracy and that of each seed, or None and why not, and how alike the words are."""

    run: str
    task: str
    alike: float
    accuracy: float | None
    reason: str = ""
    values: tuple[float, ...] = ()


def try_all(
    saved: Mapping[str, Checkpoint],
    tasks: Sequence[Task],
    strategy: Strategy,
    train_size: int,
    seeds: int,
    seed: int,
    setting: FinetuneConfig,
) -> Iterator[TriedRun]:
    """Every run on every task, by one strategy."""
    for run, one in saved.items():
        for task in tasks:
            alike = likeness(one, task)
            try:
                right = tuple(_accuracy(one, task, strategy, train_size, seed + k, setting) for k in range(seeds))
            except Refusal as refused:
                yield TriedRun(run, task.name, alike, None, str(refused))
            else:
                yield TriedRun(run, task.name, alike, fmean(right), values=right)


def _accuracy(
    saved: Checkpoint, task: Task, strategy: Strategy, labels: int, seed: int, setting: FinetuneConfig
) -> float:
    base = replace(from_checkpoint(saved, rehearsed=strategy.rehearses), tokenizer=saved.tokenizer, task=task)
    texts = texts_for(base.learner, task, [strategy], saved.tokenizer, setting.input_format)
    *_, last = tune(base, strategy, texts(labels, seed, "train"), texts(TESTS, 0, "test"), setting, seed)
    assert isinstance(last, Result)
    return last.accuracy


def likeness(saved: Checkpoint, task: Task) -> float:
    """What the word frequencies of a task's texts and of pre-training text have in common, 0 to 1.

    It is the sum of the smaller of both shares of every word; a word that the vocabulary lacks counts as different.
    """
    known = _shares(saved.corpus.held_out, saved.tokenizer.words)
    words = [saved.tokenizer.small(word) for item in task.items(SAMPLE, 0, "train") for word in item.words]
    asked = {word: number / len(words) for word, number in Counter(words).items()}
    return sum(min(share, known.get(word, 0.0)) for word, share in asked.items())


def _shares(text: Tokens, words: Sequence[str]) -> dict[str, float]:
    """The share of every word among the words of a text, signs left out."""
    ids = text.ids[text.maskable]
    counts = torch.bincount(ids, minlength=len(words)).double() / max(1, len(ids))
    return {word: share for word, share in zip(words, counts.tolist(), strict=True) if share}


def facts(tried: Sequence[TriedRun]) -> dict[str, Any]:
    """All cells, the best run of every task, whether its lead is noise, and whether likeness goes with accuracy."""
    runs, tasks = (list(dict.fromkeys(getattr(one, what) for one in tried)) for what in ("run", "task"))
    possible = [one for one in tried if one.accuracy is not None]
    best = {
        task: max(fit, key=lambda one: one.accuracy or 0.0).run
        for task in tasks
        if (fit := [one for one in possible if one.task == task])
    }
    return {
        "runs": runs,
        "tasks": tasks,
        "cells": [asdict(one) for one in tried],
        "best": best,
        "verdicts": {task: leader({t.run: t.values for t in possible if t.task == task}, "run") for task in best},
        "said": _along(possible, tasks),
    }


def _along(possible: Sequence[TriedRun], tasks: Sequence[str]) -> str:
    """The rank correlation of likeness and accuracy among the runs, both taken relative to their task."""
    alike, right = [], []
    for task in tasks:
        here = [one for one in possible if one.task == task]
        if len(here) > 1:
            alike += _centred([one.alike for one in here])
            right += _centred([one.accuracy or 0.0 for one in here])
    if len(alike) < 4:
        return ""
    together = pearson(*(ranks(torch.tensor(values, dtype=torch.double)) for values in (alike, right)))
    return f"Rank correlation of likeness and accuracy, within tasks, over {len(alike)} cells: {together:+.2f}."


def _centred(values: Sequence[float]) -> list[float]:
    return [value - fmean(values) for value in values]
