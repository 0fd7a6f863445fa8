"""Change names into those of other entities of the same type."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, arange_rows, token_strings
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.change.tokens import first_pieces, one_each, paint, rewritten, word_id
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans
from playground.objectives.stage import Change, PlanOverrides


@dataclass(frozen=True)
class ChangeEntities(Change):
    """Replace names by those of other entities of the same type (WKLM, arXiv:1912.09637, sec. 2).

    The new name is drawn from all names of the batch with as many tokens, so that no word moves; a name without such a
    partner stays. (The paper takes names of any length from Wikidata.)
    """

    replace_prob: float = knob(0.5, 0.0, 1.0, unit="share of names", why="At 0 or 1 there is nothing to distinguish.")
    keys = ("replace",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The word that each position shows, `[b, t]`: its own where no name is replaced."""
        names, ids = mentions(batch), batch.tokens.ids
        picked = sampling.noise(tuple(ids.shape), rng) < self.replace_prob
        donor = partners(batch, names, sampling.noise(tuple(ids.shape), rng))
        source = (names.at(donor) + arange_rows(ids) - names.first).clamp(0, max(0, ids.numel() - 1))
        return ids.flatten()[source].where(names.at(picked & (donor >= 0)), ids)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        names, ids = mentions(batch), batch.tokens.ids
        other = ((plan != ids) & (names.of >= 0)).long()
        new = names.at(torch.zeros_like(ids).scatter_add_(1, names.of.clamp(min=0), other) > 0)
        return replace(
            batch,
            selected=batch.selected | new,
            actions=batch.actions.masked_fill(new, Action.REPLACED),
            inputs=rewritten(batch.inputs, plan, new),
        )

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        named = plan_overrides.words_of(batch, mentions(batch).of >= 0, 0)
        words = one_each(overrides["replace"], named, "replace")
        return paint(batch, plan, {p: word_id(batch, w) for p, w in words.items()})

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        """A word for each word of each name, its own where it stays."""
        first = first_pieces(batch, mentions(batch).of >= 0, row)
        return {"replace": token_strings(plan[row], first, batch.tokens.vocabulary)}


def mentions(batch: Batch) -> MarkedSpans:
    """The names of each text, by the corpus' own labels."""
    number = batch.tokens.labels["mention"]
    return marked_spans(batch, batch.maskable & (number >= 0), number)


def partners(batch: Batch, names: MarkedSpans, noise: Tensor) -> Tensor:
    """The flat position of the first token of another entity's name of the same type and length.

    By name, `[b, t]`, -1 where the batch has none: each such name is equally likely. Sorted by type, length and entity,
    the names of one kind are a stretch and those of one entity a hole in it.
    """
    rows, runs_ = names.length.nonzero(as_tuple=True)
    position = names.start[rows, runs_]
    labels = batch.tokens.labels
    kind = (labels["entity_type"][rows, position].long() << 16) + names.length[rows, runs_]
    key = (kind << 32) + labels["entity"][rows, position].long() + 1
    ordered, order = key.sort(stable=True)
    first, last = (torch.searchsorted(ordered, (kind + more) << 32) for more in (0, 1))
    hole, behind = (torch.searchsorted(ordered, key, right=right) for right in (False, True))
    own = behind - hole
    number = last - first - own
    drawn = first + (noise[rows, runs_].double() * number).long()
    drawn = drawn + own.where(drawn >= hole, 0)
    found = (rows * names.of.shape[1] + position)[order[drawn.clamp(max=max(0, len(order) - 1))]]
    return torch.full_like(names.of, -1).index_put_((rows, runs_), found.where(number > 0, -1))
