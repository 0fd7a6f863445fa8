"""Choose single tokens."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Generator, Tensor, minimum

from playground.example import Example
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.stage import Wishes

PLACES, ROUNDING = 1, 2
"""Salts of the fixed draws: which tokens, and whether a share is rounded up."""


@dataclass(frozen=True)
class Chosen:
    """Positions of the text, `[b, t]`."""

    positions: Tensor


@dataclass(frozen=True)
class ChooseTokens:
    """Mark a share of the tokens of each row (BERT, arXiv:1810.04805, sec. 3.1 and released code).

    "exact" rounds the share half to even (BERT), "stochastic" up or down by chance (RoBERTa, released code), "iid"
    draws every token alone (transformers). With `copies` k each text has only k different choices, taken in turn:
    1 is BERT's single mask, 10 are the copies of its released script, 0 draws anew at every visit (RoBERTa,
    arXiv:1907.11692, sec. 4.1). Tokens that have the label `outside` are left alone.
    """

    rate: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    selection: str = knob(
        "exact", choices=("exact", "stochastic", "iid"), why="BERT counts exactly; independent draws can miss all."
    )
    specials: int = knob(2, 0, 3, unit="tokens", why="BERT counts [CLS] and [SEP] when it takes its share.")
    cap: int = knob(0, 0, 512, unit="tokens", why="The most of any text, 20 in BERT's released code; 0 is no limit.")
    copies: int = knob(0, 0, 40, unit="choices for each text", why="0 hides other words at every visit (RoBERTa).")
    outside: str = ""
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, example: Example, rng: Generator) -> Chosen:
        candidates = self.candidates(example)
        if self.selection == "iid":
            return Chosen((draw.dice(example.tokens, self.copies, PLACES, rng) < self.rate) & candidates)
        number = self._number(example, candidates, rng)
        if not self.copies:
            return Chosen(draw.exactly(number, candidates, rng))
        return Chosen(draw.lowest(number, candidates, draw.dice(example.tokens, self.copies, PLACES, rng)))

    def candidates(self, example: Example) -> Tensor:
        """Which tokens may be chosen, `[b, t]`."""
        return example.maskable & (example.tokens.labels[self.outside] < 0) if self.outside else example.maskable

    def _number(self, example: Example, candidates: Tensor, rng: Generator) -> Tensor:
        if self.selection == "exact":
            return self.count(candidates)
        chance = draw.dice(example.tokens, self.copies, ROUNDING, rng, width=1)[:, 0]
        number = candidates.sum(1)
        return self._capped((self.rate * (number + self.specials) + chance.double()).floor().long(), number)

    def count(self, candidates: Tensor) -> Tensor:
        """How many tokens `[b]`: the share rounded half to even, at least one where the rate is not 0."""
        return self._capped(share_of(self.rate, candidates, self.specials), candidates.sum(1))

    def _capped(self, wanted: Tensor, number: Tensor) -> Tensor:
        return minimum(wanted.clamp(max=self.cap) if self.cap else wanted, number)

    def build(self, example: Example, plan: Chosen) -> Example:
        return replace(example, chosen=plan.positions & self.candidates(example), copies=self.copies)

    def revise(self, example: Example, plan: Chosen, wanted: Wishes) -> Chosen:
        return wished(example, plan, wanted)

    def tell(self, example: Example, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": wishes.words_of(example, plan.positions, row)}


def share_of(rate: float, candidates: Tensor, specials: int) -> Tensor:
    """BERT's count `[b]` of the candidates and some specials: half to even, at least one, at most all candidates."""
    number = candidates.sum(1)
    return minimum(draw.half_even(rate, number + specials).clamp(min=1 if rate > 0 else 0), number)


def wished(example: Example, plan: Chosen, wanted: Wishes) -> Chosen:
    """The words that a person chose, or the drawn ones."""
    return Chosen(wishes.places(example, wanted["chosen"])) if "chosen" in wanted else plan
