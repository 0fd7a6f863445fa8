"""Change the order of words within short runs."""

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, gather_origin, language_ids_at
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.change.order import NewOrder
from playground.objectives.choose.spans import inside
from playground.objectives.ops import sampling
from playground.objectives.ops.segments import Runs, places, runs
from playground.objectives.stage import Change, Wishes

ORDERS = tuple(permutations(range(3)))
"""All orders of three; the first one changes nothing."""


@dataclass(frozen=True)
class ChangeTrigrams(Change):
    """Put the tokens of each marked run in a random order (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    Hidden tokens stay where they are. A run of another length than three, which only a person can ask for, is turned
    by one place.
    """

    derange: bool = knob(False, why="Never leave a run in its order; the paper does not say whether that may happen.")
    keys: ClassVar[tuple[str, ...]] = ("order",)

    def plan(self, example: Batch, rng: Generator) -> NewOrder:
        group = movable(example)
        dice = sampling.noise(tuple(group.of.shape), rng).gather(1, group.first)
        first = 1 if self.derange else 0
        which = first + (dice * (len(ORDERS) - first)).long()
        inner, size = places(example) - group.first, group.at(group.length)
        drawn = torch.tensor(ORDERS, device=which.device)[which, inner.clamp(0, 2)]
        source = group.first + drawn.where(size == 3, (inner + 1) % size.clamp(min=1))
        return NewOrder(source.where(group.of >= 0, places(example)))

    def build(self, example: Batch, plan: NewOrder) -> Batch:
        inputs, source = example.inputs, plan.source
        ids = example.tokens.ids.gather(1, source)
        moved = source != places(example)
        here = gather_origin(moved, inputs.origin, False)
        origin = gather_origin(source, inputs.origin).where(here, inputs.origin)
        inputs = replace(
            inputs,
            ids=gather_origin(ids, inputs.origin).where(here, inputs.ids),
            origin=origin,
            language_ids=language_ids_at(example.tokens, origin, inputs.segment_ids),
        )
        action = example.actions.masked_fill(moved, Action.MOVED)
        return replace(example, inputs=inputs, actions=action, prediction_order=source.argsort(dim=1))

    def revise(self, example: Batch, plan: NewOrder, wanted: Wishes) -> NewOrder:
        """Words come in the order that a person named, but none leaves its run."""
        if "order" not in wanted:
            return plan
        group = movable(example)
        slot = group.first.where(group.of >= 0, places(example))
        width = max(1, slot.shape[1])
        return NewOrder((slot * width + plan_overrides.order(example, wanted["order"])).argsort(dim=1))

    def tell(self, example: Batch, plan: NewOrder, row: int) -> dict[str, Any]:
        return {"order": plan_overrides.words_in_order(example, plan.source.argsort(dim=1), row)}


def movable(example: Batch) -> Runs:
    """The marked runs, without the tokens in them that are hidden or graded where they stand."""
    still = torch.isin(example.actions, example.actions.new_tensor([Action.KEPT, Action.MOVED]))
    return runs(example, inside(example.spans, example.tokens.ids.shape[1]) & example.maskable & still, _span(example))


def _span(example: Batch) -> Tensor:
    """A number that differs between two spans that touch, `[b, t]`: how many spans have begun."""
    spans = example.spans
    steps = torch.zeros_like(example.tokens.ids)
    if not steps.shape[1]:
        return steps
    used = (spans.length > 0).long()
    return steps.scatter_add_(1, spans.start.where(used > 0, 0), used).cumsum(1)
