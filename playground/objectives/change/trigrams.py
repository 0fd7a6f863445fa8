"""Change the order of words within short spans."""

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Action, Batch, arange_rows, gather_origin, language_ids_at
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.spans import inside
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans
from playground.objectives.stage import Change, PlanOverrides

ORDERS = tuple(permutations(range(3)))
"""All orders of three; the first one changes nothing."""


@dataclass(frozen=True)
class ChangeTrigrams(Change):
    """Put the tokens of each marked span in a random order (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    Hidden tokens stay where they are. A span of another length than three, which only a plan by hand has, is rotated by
    one position.
    """

    derange: bool = knob(False, why="Never leave a span in its order; the paper does not say whether that may happen.")
    keys = ("order",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The text position of the word that each position shows, `[b, t]`."""
        group, position = movable(batch), arange_rows(batch.tokens.ids)
        noise = sampling.noise(tuple(position.shape), rng).gather(1, group.first)
        first = int(self.derange)
        which = first + (noise * (len(ORDERS) - first)).long()
        inner, size = position - group.first, group.at(group.length)
        drawn = torch.tensor(ORDERS, device=which.device)[which, inner.clamp(0, 2)]
        source = group.first + drawn.where(size == 3, (inner + 1) % size.clamp(min=1))
        return source.where(group.of >= 0, position)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        inputs, moved = batch.inputs, plan != arange_rows(plan)
        here = gather_origin(moved, inputs.origin, False)
        origin = gather_origin(plan, inputs.origin).where(here, inputs.origin)
        inputs = replace(
            inputs,
            ids=gather_origin(batch.tokens.ids.gather(1, plan), inputs.origin).where(here, inputs.ids),
            origin=origin,
            language_ids=language_ids_at(batch.tokens, origin, inputs.segment_ids),
        )
        action = batch.actions.masked_fill(moved, Action.MOVED)
        return replace(batch, inputs=inputs, actions=action, prediction_order=plan.argsort(dim=1))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        """The words in the order of a plan by hand, but each within its span."""
        group = movable(batch)
        slot = group.first.where(group.of >= 0, arange_rows(plan))
        return (slot * max(1, slot.shape[1]) + plan_overrides.order(batch, overrides["order"])).argsort(dim=1)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"order": plan_overrides.words_in_order(batch, plan.argsort(dim=1), row)}


def movable(batch: Batch) -> MarkedSpans:
    """The marked spans, without the tokens in them that are hidden or scored where they stand."""
    still = torch.isin(batch.actions, batch.actions.new_tensor([Action.KEPT, Action.MOVED]))
    return marked_spans(batch, inside(batch.spans, batch.tokens.ids.shape[1]) & batch.maskable & still, _span(batch))


def _span(batch: Batch) -> Tensor:
    """How many spans have begun up to each text position, `[b, t]`: it differs between two spans that touch."""
    used = (batch.spans.length > 0).long()
    steps = pad(torch.zeros_like(batch.tokens.ids), (0, 1))
    return steps.scatter_add_(1, batch.spans.start.where(used > 0, 0), used).cumsum(1)[:, :-1]
