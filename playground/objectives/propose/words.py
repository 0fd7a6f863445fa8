"""Propose: plausible words from a small generator take the place of the chosen ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Action, Example
from playground.objectives import wishes
from playground.objectives.change.tokens import (
    first_pieces,
    one_each,
    paint,
    random_words,
    rewritten,
    word_id,
)
from playground.objectives.stage import Wishes

Proposer = Callable[[Example], Tensor]
"""Scores `[k, v]` of every word at the k chosen places of the text, row by row; no gradient flows back."""


@dataclass(frozen=True)
class Proposed:
    """A word for every place of the text, `[b, t]`; only those at chosen places are used."""

    words: Tensor


@dataclass(frozen=True)
class ProposeWords:
    """Sample each chosen word from the generator; without one, every word is equally likely (ELECTRA, sec. 3.1).

    The generator's own example is kept beside, so both networks train on the same batch.
    """

    proposer: Proposer | None = None
    keys: ClassVar[tuple[str, ...]] = ("replace",)

    def plan(self, example: Example, rng: Generator) -> Proposed:
        if self.proposer is None:
            return Proposed(random_words(example, rng))
        drawn = sample(self.proposer(example), rng)
        return Proposed(example.tokens.ids.masked_scatter(example.chosen, drawn.to(example.tokens.ids.dtype)))

    def build(self, example: Example, plan: Proposed) -> Example:
        tokens = example.tokens
        words = plan.words.where(example.chosen, tokens.ids)
        fate = torch.where(words == tokens.ids, int(Action.SAME_BY_LUCK), int(Action.REPLACED))
        return replace(
            example,
            action=fate.where(example.chosen, int(Action.KEPT)),
            inputs=rewritten(example.inputs, words, example.maskable),
            beside=(*example.beside, replace(example, beside=(), network="generator")),
            questions=(),
        )

    def revise(self, example: Example, plan: Proposed, wanted: Wishes) -> Proposed:
        if "replace" not in wanted:
            return plan
        names = one_each(wanted["replace"], wishes.words_of(example, example.chosen, 0), "replace")
        return replace(plan, words=paint(example, plan.words, {p: word_id(example, n) for p, n in names.items()}))

    def tell(self, example: Example, plan: Proposed, row: int) -> dict[str, Any]:
        ids = plan.words[row][first_pieces(example, example.chosen, row)].tolist()
        return {"replace": [example.tokens.vocabulary[i] for i in ids] if example.tokens.vocabulary else ids}


def sample(scores: Tensor, rng: Generator) -> Tensor:
    """One word for every place `[k]`, drawn from softmax of the scores `[k, v]` by the Gumbel trick."""
    dice = torch.rand(scores.shape, generator=rng, device=scores.device).clamp(min=1e-20)
    return (scores - (-dice.log()).log()).argmax(dim=-1)
