"""Choose single tokens."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, minimum

from playground.batch import Batch, Tokens, arange_rows, is_all_true, with_selection
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, Wishes

PLACES, ROUNDING = 1, 2
"""Salts of the fixed draws: which tokens, and whether a share is rounded up."""


@dataclass(frozen=True)
class Chosen:
    """Positions of the text, `[b, t]`; `drawn` are the same, `[m]`, in the order in which they were drawn."""

    positions: Tensor
    drawn: Tensor | None = field(default=None, repr=False, compare=False)

    @classmethod
    def at(cls, places: Tensor, like: Tensor) -> "Chosen":
        """Those at some places `[m]`, counted through the rows of a shape `[b, t]`."""
        return cls(sampling.marked(places, like), places)

    @property
    def places(self) -> Tensor:
        """The same, counted through the rows, `[m]`; in the order in which they were drawn, if that is known."""
        return self.positions.flatten().nonzero()[:, 0] if self.drawn is None else self.drawn


@dataclass(frozen=True)
class ChooseTokens(Choose):
    """Mark a share of the tokens of each row (BERT, arXiv:1810.04805, sec. 3.1 and released code).

    "exact" rounds the share half to even (BERT), "stochastic" up or down by chance (RoBERTa, released code), "iid"
    draws every token alone (transformers). With `dupe_factor` k each text has only k different choices, taken in turn:
    1 is BERT's single mask, 10 are the copies of its released script, 0 draws anew at every visit (RoBERTa,
    arXiv:1907.11692, sec. 4.1). Tokens that have the label `outside` are left alone. Of the signs, those that stand in
    the text itself, as between two documents, may be chosen; those that are put around it have no place in it.
    """

    mask_ratio: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    selection: str = knob(
        "exact",
        choices=("exact", "stochastic", "iid"),
        why="BERT counts exactly; independent draws can miss all (transformers, XLM's released code).",
    )
    num_special_tokens: int = knob(
        2, 0, 4, unit="tokens", why="Signs that count for the share: 2 around a text, 3 around a pair, 4 in XLM's form."
    )
    special_tokens: str = knob(
        "protected",
        choices=("protected", "xlm", "roberta"),
        why="Signs within the text may be hidden like words: all but a first one (XLM), or all (RoBERTa).",
    )
    max_predictions: int = knob(
        0, 0, 512, unit="tokens", why="The most of any text, 20 in BERT's released code; 0 is no limit."
    )
    dupe_factor: int = knob(0, 0, 40, unit="choices for each text", why="0 hides other words at every visit (RoBERTa).")
    outside: str = ""
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, example: Batch, rng: Generator) -> Chosen:
        candidates = self.candidates(example)
        if self.dupe_factor:
            return Chosen(self._fixed(example, candidates, rng))
        if self.selection == "iid":
            return Chosen.at(sampling.some_places(self.mask_ratio, candidates, rng), candidates)
        places, positions = sampling.exact_choice(self._number(example, candidates, rng), candidates, rng)
        return Chosen(positions, places)

    def _fixed(self, example: Batch, candidates: Tensor, rng: Generator) -> Tensor:
        dice = sampling.dice(example.tokens, self.dupe_factor, PLACES, rng)
        if self.selection == "iid":
            return (dice < self.mask_ratio) & candidates
        return sampling.lowest(self._number(example, candidates, rng), candidates, dice)

    def candidates(self, example: Batch) -> Tensor:
        """Which tokens may be chosen, `[b, t]`."""
        able = (
            example.maskable
            if self.special_tokens == "protected"
            else with_signs(example.tokens, self.special_tokens == "roberta")
        )
        return able & (example.tokens.labels[self.outside] < 0) if self.outside else able

    def _number(self, example: Batch, candidates: Tensor, rng: Generator) -> Tensor:
        if self.selection == "exact":
            return self.count(candidates)
        chance = sampling.dice(example.tokens, self.dupe_factor, ROUNDING, rng, width=1)[:, 0]
        number = candidates.sum(1)
        wanted = (self.mask_ratio * (number + self.num_special_tokens) + chance.double()).floor().long()
        return minimum(wanted.clamp(max=self.max_predictions) if self.max_predictions else wanted, number)

    def count(self, candidates: Tensor) -> Tensor:
        """How many tokens `[b]`: the share rounded half to even, at least one where the rate is not 0."""
        wanted = share_of(self.mask_ratio, candidates, self.num_special_tokens)
        return wanted.clamp(max=self.max_predictions) if self.max_predictions else wanted

    def rounding(self, example: Batch) -> str:
        """What rounding did to the share of the first text, where that is odd."""
        number = int(self.candidates(example)[0].sum())
        return odd(self.mask_ratio, number + self.num_special_tokens) if number and self.selection == "exact" else ""

    def build(self, example: Batch, plan: Chosen) -> Batch:
        return chosen_of(example, plan, self.candidates(example), self.dupe_factor)

    def revise(self, example: Batch, plan: Chosen, wanted: Wishes) -> Chosen:
        return wished(example, plan, wanted)

    def tell(self, example: Batch, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": plan_overrides.words_of(example, plan.positions, row)}


def with_signs(tokens: Tokens, first: bool) -> Tensor:
    """The words of each text and the signs that part or close it, `[b, t]`; one that comes `first` only if wanted."""
    specials = tokens.specials
    signs = torch.tensor([specials.start, specials.end, specials.cls, specials.sep], device=tokens.ids.device)
    able = torch.isin(tokens.ids, signs) & tokens.valid
    return tokens.maskable | (able if first else able & (arange_rows(tokens.ids) > 0))


def chosen_of(example: Batch, plan: Chosen, candidates: Tensor, copies: int = 0) -> Batch:
    """The example with what a plan chose of the candidates `[b, t]`."""
    if is_all_true(candidates):
        return with_selection(example, plan.positions, plan.places, copies)
    kept = candidates.flatten().index_select(0, plan.places)
    places = plan.places if bool(kept.all()) else plan.places[kept]
    return with_selection(example, plan.positions & candidates, places, copies)


def share_of(rate: float, candidates: Tensor, specials: int) -> Tensor:
    """BERT's count `[b]` of the candidates and some specials: half to even, at least one, at most all candidates."""
    if is_all_true(candidates):
        return _share(rate, *candidates.shape, specials, candidates.device)
    return _shares(rate, candidates.shape[1], specials, candidates.device).index_select(0, candidates.sum(1))


@lru_cache(maxsize=64)
def _share(rate: float, rows: int, width: int, specials: int, device: torch.device) -> Tensor:
    """The same where all tokens of all rows are candidates; never to be written to."""
    return _shares(rate, width, specials, device)[width].expand(rows)


@lru_cache(maxsize=64)
def _shares(rate: float, widest: int, specials: int, device: torch.device) -> Tensor:
    """The same by the number of candidates, `[widest + 1]`."""
    number = torch.arange(widest + 1)
    return minimum(sampling.half_even(rate, number + specials).clamp(min=1 if rate > 0 else 0), number).to(device)


def wished(example: Batch, plan: Chosen, wanted: Wishes) -> Chosen:
    """The words that a person chose, or the drawn ones."""
    return Chosen(plan_overrides.places(example, wanted["chosen"])) if "chosen" in wanted else plan


def odd(rate: float, number: int) -> str:
    """The sentence on a share that rounds to nothing, though one token is chosen all the same."""
    share = rate * number
    return (
        f"{100 * rate:g} % of {number} tokens is {share:.2g}, which would be none: one is chosen."
        if 0 < share <= 0.5
        else ""
    )
