"""Ask: change which answers are scored, as a person chose it on the stage, or the weight of all targets."""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from playground.answers import Target
from playground.batch import Batch
from playground.objectives.stage import Ask

SCORED = "scored"
"""The name of the loss mask where masks that are painted by hand go by name."""


@dataclass(frozen=True)
class LossMaskOverride:
    """Positions, from 1, that are scored or not whatever the objective asks; `part` of a mixture, from 1, else 0."""

    kind: ClassVar[str] = "loss_mask"
    counts: tuple[int, ...] = ()
    skips: tuple[int, ...] = ()
    part: int = 0

    @property
    def words(self) -> str:
        """The same for a person."""
        chosen = {"counts": self.counts, "does not count": self.skips}
        where = f"part {self.part}: " if self.part else ""
        return where + ", ".join(_sentence(positions, verb) for verb, positions in chosen.items() if positions)


def _sentence(positions: tuple[int, ...], verb: str) -> str:
    *ranges, last = _ranges(positions)
    listed = f"{', '.join(ranges)} and {last}" if ranges else last
    if len(positions) == 1:
        return f"the answer at position {listed} {verb}"
    return f"the answers at positions {listed} {verb.replace('does', 'do').replace('counts', 'count')}"


def _ranges(positions: tuple[int, ...]) -> list[str]:
    """Numbers in their order, consecutive ones as one range, as in 1, 4 to 6."""
    ranges: list[list[int]] = []
    for position in positions:
        if ranges and ranges[-1][-1] == position - 1:
            ranges[-1].append(position)
        else:
            ranges.append([position])
    return [str(each[0]) if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in ranges]


@dataclass(frozen=True)
class OverrideLossMask(Ask):
    """The objective's targets, with answers scored or not at the positions that a person chose."""

    rules: tuple[LossMaskOverride, ...]

    def build(self, batch: Batch) -> Batch:
        for rule in self.rules:
            batch = judge(batch, rule)
        return batch


def judge(batch: Batch, rule: LossMaskOverride, row: int | None = None) -> Batch:
    """The example with the answers at these positions scored or not, in one row or in all of them.

    What was not asked before has an answer only where a word of the text stands; the first target with one gets it.
    """
    if not batch.targets:
        return batch
    real = batch.answering.valid
    here = real if row is None else real & (torch.arange(len(real), device=real.device) == row)[:, None]
    number = real.cumsum(1).masked_fill(~here, 0)
    counts, skips = (
        torch.isin(number, torch.tensor(positions, dtype=number.dtype, device=number.device))
        for positions in (rule.counts, rule.skips)
    )
    targets, given = [], torch.zeros_like(here)
    for target in batch.targets:
        able = answerable(batch, target)
        new = counts & able & ~given
        given = given | new
        targets.append(replace(target, loss_mask=(target.loss_mask & ~(skips & able)) | new))
    return replace(batch, targets=tuple(targets))


def answerable(batch: Batch, target: Target) -> Tensor:
    """Where a target of the drawn stream has an answer, `[b, n]`: at a word of the text, or where it is scored."""
    if target.at_decoder != batch.targets[0].at_decoder:
        return torch.zeros_like(target.loss_mask)
    known = target.kind.plain and target.reads is None
    return target.loss_mask | (target.origin >= 0) if known else target.loss_mask


@dataclass(frozen=True)
class Reweight(Ask):
    """The same targets within a sum of objectives: a new weight, and some under another name (`mixture.mixed`)."""

    weight: float = 1.0
    names: tuple[tuple[str, str], ...] = ()

    def build(self, batch: Batch) -> Batch:
        names = dict(self.names)
        targets = tuple(
            replace(target, name=names.get(target.name, target.name), weight=target.weight * self.weight)
            for target in batch.targets
        )
        return replace(batch, targets=targets, auxiliary=tuple(map(self.build, batch.auxiliary)))
