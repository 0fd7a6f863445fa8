"""Change names into the names of others of their kind."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.change.tokens import first_pieces, one_each, paint, rewritten, word_id
from playground.objectives.ops import sampling
from playground.objectives.ops.segments import Runs, runs
from playground.objectives.stage import Change, Wishes


@dataclass(frozen=True)
class OtherNames:
    """The word that each place shows, `[b, t]`: its own where no name is replaced."""

    words: Tensor


@dataclass(frozen=True)
class ChangeEntities(Change):
    """Replace names by those of other entities of the same type (WKLM, arXiv:1912.09637, sec. 2).

    The new name is drawn from all names of the batch with as many tokens, so that no word moves; a name without such a
    partner stays. (The paper takes names of any length from Wikidata.)
    """

    replace_prob: float = knob(0.5, 0.0, 1.0, unit="share of names", why="At 0 or 1 there is nothing to tell apart.")
    keys: ClassVar[tuple[str, ...]] = ("replace",)

    def plan(self, example: Batch, rng: Generator) -> OtherNames:
        names = mentions(example)
        picked = sampling.noise(tuple(names.of.shape), rng) < self.replace_prob
        chance = sampling.noise(tuple(names.of.shape), rng)
        donor = partners(example, names, chance)
        ids, width = example.tokens.ids, example.tokens.ids.shape[1]
        inner = torch.arange(width, device=ids.device) - names.first
        source = (names.at(donor) + inner).clamp(0, max(0, ids.numel() - 1))
        here = names.at(picked & (donor >= 0))
        return OtherNames(ids.flatten()[source].where(here, ids))

    def build(self, example: Batch, plan: OtherNames) -> Batch:
        names, ids = mentions(example), example.tokens.ids
        other = ((plan.words != ids) & (names.of >= 0)).long()
        changed = torch.zeros_like(ids).scatter_add_(1, names.of.clamp(min=0), other) > 0
        new = names.at(changed)
        return replace(
            example,
            selected=example.selected | new,
            actions=example.actions.masked_fill(new, Action.REPLACED),
            inputs=rewritten(example.inputs, plan.words, new),
        )

    def revise(self, example: Batch, plan: OtherNames, wanted: Wishes) -> OtherNames:
        if "replace" not in wanted:
            return plan
        named = mentions(example).of >= 0
        words = one_each(wanted["replace"], plan_overrides.words_of(example, named, 0), "replace")
        return OtherNames(paint(example, plan.words, {p: word_id(example, w) for p, w in words.items()}))

    def tell(self, example: Batch, plan: OtherNames, row: int) -> dict[str, Any]:
        """A word for each word of each name, its own where it stays."""
        ids = plan.words[row][first_pieces(example, mentions(example).of >= 0, row)].tolist()
        return {"replace": [example.tokens.vocabulary[i] for i in ids]}


def mentions(example: Batch) -> Runs:
    """The names of each text, by the corpus' own marks."""
    number = example.tokens.labels["mention"]
    return runs(example, example.maskable & (number >= 0), number)


def partners(example: Batch, names: Runs, chance: Tensor) -> Tensor:
    """The first token, counted through the whole batch, of another entity's name of the same type and length.

    By name, `[b, t]`, -1 where the batch has none: each such name is equally likely. Sorted by type, length and entity,
    the names of one kind are a stretch and those of one entity a hole in it.
    """
    rows, runs_ = names.length.nonzero(as_tuple=True)
    place = names.start[rows, runs_]
    labels = example.tokens.labels
    kind = (labels["entity_type"][rows, place].long() << 16) + names.length[rows, runs_]
    key = (kind << 32) + labels["entity"][rows, place].long() + 1
    ordered, order = key.sort(stable=True)
    first, last = (torch.searchsorted(ordered, (kind + more) << 32) for more in (0, 1))
    hole, behind = (torch.searchsorted(ordered, key, right=right) for right in (False, True))
    own = behind - hole
    number = last - first - own
    drawn = first + (chance[rows, runs_].double() * number).long()
    drawn = drawn + own.where(drawn >= hole, 0)
    found = (rows * names.of.shape[1] + place)[order[drawn.clamp(max=max(0, len(order) - 1))]]
    return torch.full_like(names.of, -1).index_put_((rows, runs_), found.where(number > 0, -1))
