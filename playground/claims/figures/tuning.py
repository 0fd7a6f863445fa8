"""Figures of fine-tuning: an accuracy with fields of an arm changed, the mean over tasks, the course of a trial."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean
from typing import Any

from playground.claims import Arm, Lab
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.data.files import find_task
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for
from playground.tokenizing import Tokenizer

TASKS = ("sentiment", "topic", "part of speech")
"""The meaning of a sentence, its subject, and the grammar of every word."""


def accuracy(lab: Lab, arm: Arm, seed: int, **changed: Any) -> float:
    """The accuracy on unseen texts of an arm with some fields changed."""
    return lab.tuned(replace(arm, **changed), seed).accuracy


def over_tasks(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean accuracy over tasks."""
    return fmean(accuracy(lab, arm, seed, task=task) for task in TASKS)


def course(lab: Lab, arm: Arm, seed: int, looks: int) -> list[float]:
    """The accuracy on some unseen texts so many times, evenly over the run."""
    events = trial(lab.base(arm, seed), lab.corpus(arm).tokenizer, arm, seed, looks=looks)
    return [event.look.accuracy for event in events if isinstance(event, StepEvent) and event.look]


def result(base: Base, tokenizer: Tokenizer, arm: Arm, seed: int, **how: Any) -> Result:
    """The result of a fine-tuning run."""
    *_, last = trial(base, tokenizer, arm, seed, **how)
    assert isinstance(last, Result)
    return last


def trial(
    base: Base, tokenizer: Tokenizer, arm: Arm, seed: int, *, looks: int = 0, own_seed: int | None = None,
    on_training_texts: bool = False,
) -> Iterator[StepEvent | Result]:  # fmt: skip
    """The events of a fine-tuning run; `seed` draws the texts, `own_seed` the head and the order, by default too."""
    task, strategy = find_task(arm.task), read(arm.strategy)
    base = replace(base, tokenizer=tokenizer, task=task)
    texts = texts_for(base.learner, task, [strategy], tokenizer)
    train, test = texts(arm.train_size, seed, "train"), texts(TEST_TEXTS, seed, "test")
    setting = FinetuneConfig(steps=arm.tuning_steps, looks=looks)
    yield from tune(
        base, strategy, train, train if on_training_texts else test, setting, seed if own_seed is None else own_seed
    )
