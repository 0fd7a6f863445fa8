"""Change the order of the parts of a text, with special tokens between them."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Action, Batch, Stream, arange_rows
from playground.errors import UserError
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.change.markers import sentinel
from playground.objectives.ops import sampling
from playground.objectives.ops.names import with_names
from playground.objectives.ops.ragged import with_marks
from playground.objectives.stage import Change, PlanOverrides

FORMS = ("plain", "PSM", "SPM")
"""The text as it stands; prefix, suffix, middle; suffix, prefix, middle."""

MARKS = ("<PRE>", "<SUF>", "<MID>")
"""The names of the first three sentinels on screen."""

BEHIND = 9
"""A place behind all parts of a text."""

PLACES = ((0, 0, 0, BEHIND, BEHIND, BEHIND), (1, 5, 3, 0, 2, 4), (4, 5, 2, 0, 1, 3))
"""For each form the places of prefix, middle and suffix, and of their three special tokens <PRE>, <SUF> and <MID>."""


@dataclass(frozen=True)
class MoveMiddle(Change):
    """Put the middle of a text behind its suffix (fill in the middle, arXiv:2207.14255, sec. 3 and 4.1).

    PSM is <PRE> prefix <SUF> suffix <MID> middle; SPM, in the variant that released codes have, is <PRE> <SUF> suffix
    <MID> prefix middle. <PRE>, <SUF> and <MID> are the first three sentinels; every row ends with [END], the
    paper's <EOT>. A row is one document.
    """

    fim_rate: float = knob(0.5, 0.0, 1.0, unit="share of rows", why="The other rows stay in their order.")
    fim_spm_rate: float = knob(
        0.5, 0.0, 1.0, unit="share of rearranged rows", why="How many have the suffix first (SPM)."
    )
    add_eos: bool = knob(True, why="[END] closes the row, so that the model learns where the middle stops.")
    keys = ("form",)
    follows = ("spans",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The form of each row, `[b]` (see `FORMS`)."""
        spm = self.fim_rate * self.fim_spm_rate
        noise = sampling.noise((len(batch.tokens.ids),), rng).double()
        return (sampling.outcomes((self.fim_rate - spm, spm, 1 - self.fim_rate), noise) + 1) % len(FORMS)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        tokens, spans = batch.tokens, batch.spans
        form = plan * (tokens.lengths > 0)
        if len(tokens.specials.sentinels) in (1, 2):
            raise UserError(f"FIM needs 3 sentinels; this one has {len(tokens.specials.sentinels)}.")
        marks = sentinel(batch, torch.arange(3, device=plan.device)).expand(len(plan), 3)
        end = torch.full_like(marks[:, :1], tokens.specials.end)
        places = torch.tensor(PLACES, device=plan.device)[form]  # [b, 6]
        position = arange_rows(tokens.ids)
        part = (position >= spans.start).long() + (position >= spans.start + spans.length)
        place = places.gather(1, part).masked_fill(~tokens.valid, BEHIND)
        close = torch.full_like(end, BEHIND - 1 if self.add_eos else BEHIND)
        order = torch.cat([place, places[:, 3:], close], dim=1).argsort(dim=1, stable=True)
        count = tokens.lengths + 3 * (form > 0) + int(self.add_eos)
        inputs = with_marks(tokens, torch.cat([marks, end], dim=1), order, count).stream(tokens)
        away = batch.selected & (form > 0)[:, None]
        named = with_names(tokens, dict(zip(tokens.specials.sentinels, MARKS, strict=False)))
        return replace(batch, tokens=named, inputs=inputs, actions=batch.actions.masked_fill(away, Action.MOVED))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if "form" not in overrides:
            return plan.clamp(min=1)
        if (form := overrides["form"]) not in FORMS:
            raise UserError(f"The form is {plan_overrides.short(form)}; it must be one of {', '.join(FORMS)}.")
        return torch.full_like(plan, FORMS.index(form))

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"form": FORMS[plan[row]]}


@dataclass(frozen=True)
class MoveSpans(Change):
    """Replace each span by a sentinel and write it behind the text: its sentinel, the span, [END] (CM3, sec. 2).

    Sentinels are numbered from left to right. [END] is the end-of-mask token of InCoder (arXiv:2204.05999, sec. 2.1).
    """

    def build(self, batch: Batch) -> Batch:
        tokens, spans, width = batch.tokens, batch.spans, batch.tokens.ids.shape[1]
        there = spans.is_span.long()
        number = there.cumsum(1) - 1  # [b, m]
        behind = 2 * width + 2
        begun = there.new_zeros((len(there), width + 1)).scatter_add_(1, spans.start, there)[:, :width].cumsum(1)
        place = (2 * arange_rows(tokens.ids) + 1).where(~batch.selected, behind + 3 * begun - 2)
        last = behind + 3 * there.shape[1]
        marks = sentinel(batch, number)
        places = torch.cat([2 * spans.start, behind + 3 * number, behind + 3 * number + 2], dim=1)
        places = places.where(spans.is_span.repeat(1, 3), last)
        order = torch.cat([place.masked_fill(~tokens.valid, last), places], dim=1).argsort(dim=1, stable=True)
        marks = torch.cat([marks, marks, torch.full_like(marks, tokens.specials.end)], dim=1)
        inputs = with_marks(tokens, marks, order, tokens.lengths + 3 * there.sum(1)).stream(tokens)
        return replace(batch, inputs=inputs, actions=batch.actions.masked_fill(batch.selected, Action.MOVED))


@dataclass(frozen=True)
class SpansToBlanks(Change):
    """Replace each span by [MASK] and write the spans behind the text in any order (GLM, arXiv:2103.10360, sec. 2.1).

    Behind the text (part A) each span stands after a [START] of its own (part B), the released code's [sop]. A token of
    part B has the position of its [MASK]; its second position counts from 1 in its span, and is 0 in part A (sec. 2.2).
    """

    shuffle: bool = knob(True, why="The spans are filled in any order, not from left to right.")
    keys = ("blanks",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """For each span of a row, counted from the left, the step `[b, m]` at which it is filled."""
        there = batch.spans.is_span
        number = arange_rows(there)
        return sampling.shuffled((number >= there.sum(1, keepdim=True)).int(), rng) if self.shuffle else number

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        tokens, (rows, width), most = batch.tokens, batch.tokens.ids.shape, plan.shape[1]
        there, start = batch.spans.is_span, batch.spans.start
        step = plan.gather(1, (there.cumsum(1) - 1).clamp(min=0))  # [b, m], by the column of the span
        behind, last = 2 * width + 2, 2 * (width + most) + 4
        begun = there.long().new_zeros((rows, width + 1)).scatter_add_(1, start * there, there.long())[:, :width]
        own = pad(plan, (0, 1)).gather(1, (begun.cumsum(1) - 1).clamp(min=0)) if most else begun
        place = (2 * arange_rows(tokens.ids) + 1).where(~batch.selected, behind + 2 * own + 1)
        marks = torch.cat([2 * start, behind + 2 * step], dim=1).where(there.repeat(1, 2), last)
        order = torch.cat([place.masked_fill(~tokens.valid, last), marks], dim=1).argsort(dim=1, stable=True)
        ids = torch.cat([torch.full_like(start, number) for number in (tokens.specials.mask, tokens.specials.start)], 1)
        inputs = with_marks(tokens, ids, order, tokens.lengths + 2 * there.sum(1)).stream(tokens)
        first, second = _in_blanks(inputs, order[:, : inputs.ids.shape[1]], step, there, width)
        return replace(
            batch,
            inputs=replace(inputs, position_ids=first, second_position_ids=second),
            actions=batch.actions.masked_fill(batch.selected, Action.MOVED),
        )

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        count, asked = int(batch.spans.is_span[0].sum()), overrides["blanks"]
        plan_overrides.check_order(asked, count, "blanks")
        step = torch.tensor(asked, dtype=torch.long, device=plan.device).argsort()
        return torch.cat([step.expand(len(plan), -1), plan[:, count:]], dim=1)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"blanks": (plan[row, : int(batch.spans.is_span[row].sum())].argsort() + 1).tolist()}


def _in_blanks(inputs: Stream, order: Tensor, step: Tensor, there: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The positions and second positions `[b, n]` of a text with blanks that stands in an `order` of tokens and marks.

    `step` `[b, m]` is when each span is filled; the marks are a [MASK] of each span, then a [START] of each.
    """
    position, most = arange_rows(order), step.shape[1]
    opens = (order >= width + most) & inputs.valid
    block = opens.cumsum(1)  # [b, n], from 1
    begin = position.where(opens, 0).cummax(1).values
    at = torch.zeros((len(order), width + 2 * most + 1), dtype=torch.long, device=order.device)
    at = at.scatter(1, order, position)[:, width : width + most]  # [b, m], the position of each [MASK]
    masks = torch.zeros((len(order), most + 2), dtype=torch.long, device=order.device)
    masks = masks.scatter(1, (step + 1).where(there, most + 1), at)
    inside = (block > 0) & inputs.valid
    return masks.gather(1, block).where(inside, position), (position - begin + 1) * inside
