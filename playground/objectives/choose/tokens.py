"""Choose single tokens."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor, minimum

from playground.batch import Batch, Tokens, arange_rows, with_selection
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides

PLACES, ROUNDING = 1, 2
"""Salts of the fixed draws: which tokens, and whether a share is rounded up."""


@dataclass(frozen=True)
class Chosen:
    """Positions of the text, `[b, t]`; `drawn` are the same, flat, `[m]`, in the order in which they were drawn."""

    positions: Tensor
    drawn: Tensor | None = field(default=None, repr=False, compare=False)

    @classmethod
    def at(cls, positions: Tensor, like: Tensor) -> "Chosen":
        """Some flat positions `[m]` of a shape `[b, t]`."""
        return cls(sampling.marked(positions, like), positions)

    @property
    def flat_positions(self) -> Tensor:
        """The flat positions, `[m]`; in the order in which they were drawn, if that is known."""
        return self.positions.flatten().nonzero()[:, 0] if self.drawn is None else self.drawn


def override_chosen(batch: Batch, plan: Chosen, overrides: PlanOverrides) -> Chosen:
    """The words chosen by hand, or the drawn ones."""
    return Chosen(plan_overrides.positions(batch, overrides["chosen"]))


def describe_chosen(batch: Batch, plan: Chosen, row: int) -> dict[str, Any]:
    """The chosen words of a row, 1-based."""
    return {"chosen": plan_overrides.words_of(batch, plan.positions, row)}


class TokenChoice(Choose):
    """A stage that chooses tokens, which a plan by hand calls `chosen`."""

    keys = ("chosen",)
    override_plan = staticmethod(override_chosen)
    describe_plan = staticmethod(describe_chosen)


@dataclass(frozen=True)
class ChooseTokens(TokenChoice):
    """Mark a share of the tokens of each row (BERT, arXiv:1810.04805, sec. 3.1 and released code).

    "exact" rounds the share half to even (BERT), "stochastic" up or down at random (RoBERTa, released code), "iid"
    draws every token alone (transformers). With `dupe_factor` k each text has only k different choices, taken in turn:
    1 is BERT's single mask, 10 are the copies of its released script, 0 draws anew in every epoch (RoBERTa,
    arXiv:1907.11692, sec. 4.1). Tokens that have the label `outside` are never chosen. Of the special tokens, those in
    the text itself, as between two documents, may be chosen; those that are put around it are no part of it.
    """

    mask_ratio: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    selection: str = knob(
        "exact",
        choices=("exact", "stochastic", "iid"),
        why="BERT counts exactly; independent draws can miss all (transformers, XLM's released code).",
    )
    num_special_tokens: int = knob(
        2,
        0,
        4,
        unit="tokens",
        why="Special tokens included in the ratio: 2 for one text, 3 for a pair, 4 in XLM's form.",
    )
    special_tokens: str = knob(
        "protected",
        choices=("protected", "xlm", "roberta"),
        why="Special tokens may be masked like words: all but the first (XLM), or all (RoBERTa).",
    )
    max_predictions: int = knob(
        0, 0, 512, unit="tokens", why="The maximum for a text, 20 in BERT's released code; 0 for no limit."
    )
    dupe_factor: int = knob(
        0, 0, 40, unit="choices for each text", why="0 masks different words each time a text is read (RoBERTa)."
    )
    outside: str = ""

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        candidates = self.candidates(batch)
        if self.dupe_factor:
            return Chosen(self._fixed(batch, candidates, rng))
        if self.selection == "iid":
            drawn = sampling.bernoulli(self.mask_ratio, candidates.numel(), rng)
            return Chosen.at(drawn.masked_select(candidates.flatten().index_select(0, drawn)), candidates)
        drawn, positions = sampling.exact_choice(self._number(batch, candidates, rng), candidates, rng)
        return Chosen(positions, drawn)

    def _fixed(self, batch: Batch, candidates: Tensor, rng: Generator) -> Tensor:
        noise = sampling.text_noise(batch.tokens, self.dupe_factor, PLACES, rng)
        if self.selection == "iid":
            return (noise < self.mask_ratio) & candidates
        return sampling.lowest(self._number(batch, candidates, rng), candidates, noise)

    def candidates(self, batch: Batch) -> Tensor:
        """Which tokens may be chosen, `[b, t]`."""
        able = batch.maskable
        if self.special_tokens != "protected":
            able = with_specials(batch.tokens, first=self.special_tokens == "roberta")
        return able & (batch.tokens.labels[self.outside] < 0) if self.outside else able

    def _number(self, batch: Batch, candidates: Tensor, rng: Generator) -> Tensor:
        if self.selection == "exact":
            return self.count(candidates)
        noise = sampling.text_noise(batch.tokens, self.dupe_factor, ROUNDING, rng, width=1)[:, 0]
        number = candidates.sum(1)
        count = (self.mask_ratio * (number + self.num_special_tokens) + noise.double()).floor().long()
        return minimum(count.clamp(max=self.max_predictions) if self.max_predictions else count, number)

    def count(self, candidates: Tensor) -> Tensor:
        """How many tokens `[b]`: the share rounded half to even, at least one where the ratio is not 0."""
        count = bert_count(self.mask_ratio, candidates, self.num_special_tokens)
        return count.clamp(max=self.max_predictions) if self.max_predictions else count

    def rounding(self, batch: Batch) -> str:
        """A sentence on the share of the first text where rounding changes it much."""
        number = int(self.candidates(batch)[0].sum())
        if not number or self.selection != "exact":
            return ""
        return rounding_note(self.mask_ratio, number + self.num_special_tokens)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return with_chosen(batch, plan, self.candidates(batch), self.dupe_factor)


def with_specials(tokens: Tokens, first: bool) -> Tensor:
    """The words of each text and the special tokens that part or close it, `[b, t]`; at its `first` position or not."""
    specials = tokens.specials
    parts = ("start", "end", "cls", "sep")
    ids = torch.tensor([specials.roles[role] for role in parts if role in specials.roles], device=tokens.ids.device)
    able = torch.isin(tokens.ids, ids) & tokens.valid
    return tokens.maskable | (able if first else able & (arange_rows(tokens.ids) > 0))


def with_chosen(batch: Batch, plan: Chosen, candidates: Tensor, copies: int = 0) -> Batch:
    """The batch with what a plan chose of the candidates `[b, t]`."""
    positions = plan.flat_positions.masked_select(candidates.flatten().index_select(0, plan.flat_positions))
    return with_selection(batch, plan.positions & candidates, positions, copies)


def bert_count(ratio: float, candidates: Tensor, specials: int) -> Tensor:
    """BERT's count `[b]` of the candidates and some specials: half to even, at least one, at most all candidates."""
    number = candidates.sum(1)
    return minimum(sampling.half_even(ratio, number + specials).clamp(min=1 if ratio > 0 else 0), number)


def rounding_note(ratio: float, number: int) -> str:
    """A sentence on a share that rounds to nothing, though one token is chosen all the same; else nothing."""
    if not 0 < ratio * number <= 0.5:
        return ""
    return f"{100 * ratio:g} % of {number} tokens is {ratio * number:.2g}, which would be none: one is chosen."
