"""Propose: words sampled from a small generator replace the chosen ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.change.tokens import first_pieces, one_each, paint, pool_of, rewritten, word_id, words_by
from playground.objectives.ops import sampling
from playground.objectives.stage import PlanOverrides, Propose

Proposer = Callable[[Batch], Tensor]
"""Scores `[k, v]` of every word at the k chosen positions of the text, row by row; no gradient flows back."""


@dataclass(frozen=True)
class SampleFromGenerator(Propose):
    """Sample each chosen word from the generator; without one, every word is equally likely (ELECTRA, sec. 2).

    The generator's own batch is auxiliary, so both networks train on the same batch. A sample may be the right word,
    which then counts as original; with `disallow_correct` it is never drawn (released code).
    """

    proposer: Proposer | None = None
    disallow_correct: bool = knob(False, why="Never sample the right word: every chosen position gets a wrong one.")
    keys = ("replace",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """A word for every text position, `[b, t]`; only those at chosen positions are used."""
        ids = batch.tokens.ids
        if self.proposer is None and self.disallow_correct:
            size, id_of = pool_of(batch, "words")
            steps = 1 + (sampling.noise(tuple(ids.shape), rng).double() * (size - 1)).long()
            return id_of((batch.tokens.specials.number_of(ids) + steps) % size)
        if self.proposer is None:
            return words_by(sampling.noise(tuple(ids.shape), rng), batch)
        scores = self.proposer(batch)
        if self.disallow_correct:
            scores = scores.scatter(1, ids[batch.selected_at][:, None], float("-inf"))
        return ids.masked_scatter(batch.selected, sample(scores, rng).to(ids.dtype))

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        tokens = batch.tokens
        words = plan.where(batch.selected, tokens.ids)
        action = torch.where(words == tokens.ids, int(Action.SAME_BY_LUCK), int(Action.REPLACED))
        return replace(
            batch,
            actions=action.where(batch.selected, int(Action.KEPT)),
            inputs=rewritten(batch.inputs, words, batch.maskable),
            auxiliary=(*batch.auxiliary, replace(batch, auxiliary=(), network="generator")),
            targets=(),
        )

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        names = one_each(overrides["replace"], plan_overrides.words_of(batch, batch.selected, 0), "replace")
        return paint(batch, plan, {p: word_id(batch, n) for p, n in names.items()})

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        ids = plan[row][first_pieces(batch, batch.selected, row)].tolist()
        return {"replace": [batch.tokens.vocabulary[i] for i in ids] if batch.tokens.vocabulary else ids}


def sample(scores: Tensor, rng: Generator) -> Tensor:
    """One word for every position `[k]`, drawn from softmax of the scores `[k, v]` by the Gumbel trick."""
    noise = torch.rand(scores.shape, generator=rng, device=scores.device).clamp(min=1e-20)
    return (scores - (-noise.log()).log()).argmax(dim=-1)
