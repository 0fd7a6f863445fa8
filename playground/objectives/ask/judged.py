"""Ask: which answers count, as a person chose it on the stage, carried over to every text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Batch, Target
from playground.objectives.stage import Ask

GRADED = "graded"
"""Stands for the answers where what is painted by hand is told by the name of a matrix."""


@dataclass(frozen=True)
class Judged:
    """At which places, counted from 1, an answer counts or does not, whatever the objective asks there.

    `part` is the part of a mixture that they were chosen in, from 1; 0 for all that an objective has.
    """

    counts: tuple[int, ...] = ()
    skips: tuple[int, ...] = ()
    part: int = 0

    def __str__(self) -> str:
        said = {"count": self.counts, "skip": self.skips}
        parts = (f"{verb} {' '.join(_runs(some, '-'))}" for verb, some in said.items() if some)
        return " ".join([*([f"part {self.part}"] if self.part else []), "answers", *parts])

    @property
    def words(self) -> str:
        """The same for a person."""
        said = {"counts": self.counts, "does not count": self.skips}
        where = f"part {self.part}: " if self.part else ""
        return where + ", ".join(_sentence(some, verb) for verb, some in said.items() if some)


def _sentence(places: tuple[int, ...], verb: str) -> str:
    *runs, last = _runs(places, " to ")
    listed = f"{', '.join(runs)} and {last}" if runs else last
    if len(places) == 1:
        return f"the answer at place {listed} {verb}"
    return f"the answers at places {listed} {verb.replace('does', 'do').replace('counts', 'count')}"


def _runs(places: tuple[int, ...], between: str) -> list[str]:
    """Numbers in their order, those that follow each other as one run, as in 1, 4-6."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}{between}{run[-1]}" for run in runs]


@dataclass(frozen=True)
class OverrideLossMask(Ask):
    """What the objective asks, with answers that count or do not at the places that a person chose."""

    judged: tuple[Judged, ...]

    def build(self, example: Batch) -> Batch:
        for each in self.judged:
            example = judge(example, each)
        return example


def judge(example: Batch, rule: Judged, row: int | None = None) -> Batch:
    """The example with the answers at these places graded or not, in one row or in all of them.

    What was not asked before has an answer only where a word of the text stands; the first question with one gets it.
    """
    if not example.questions:
        return example
    real = example.answering.valid
    here = real if row is None else real & (torch.arange(len(real), device=real.device) == row)[:, None]
    number = real.cumsum(1).masked_fill(~here, 0)
    counts, skips = (_among(number, places) for places in (rule.counts, rule.skips))
    questions, given = [], torch.zeros_like(here)
    for question in example.questions:
        able = answerable(example, question)
        new = counts & able & ~given
        given = given | new
        questions.append(replace(question, loss_mask=(question.loss_mask & ~(skips & able)) | new))
    return replace(example, questions=tuple(questions))


def _among(number: Tensor, places: Iterable[int]) -> Tensor:
    return torch.isin(number, torch.tensor(list(places), dtype=number.dtype, device=number.device))


def answerable(example: Batch, question: Target) -> Tensor:
    """Where a question of the drawn lane has an answer, `[b, n]`: a word of the text, or what it grades there."""
    if (question.stream == "decoder") != (example.questions[0].stream == "decoder"):
        return torch.zeros_like(question.loss_mask)
    known = question.head in ("vocabulary", "replaced") and question.loss is None and question.reads is None
    return question.loss_mask | (question.origin >= 0) if known else question.loss_mask
