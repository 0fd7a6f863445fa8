"""Propose: wrong words from chance, for the right one to be told from."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch, NegativeSampling, Target, Tokens
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.change.tokens import word_id
from playground.objectives.choose.frequent import counts_of
from playground.objectives.ops import sampling
from playground.objectives.stage import Propose, Wishes


@dataclass(frozen=True)
class Wrong:
    """The words drawn for every position of the last question, `[b, n, k]`."""

    drawn: Tensor


@dataclass(frozen=True)
class SampleNegatives(Propose):
    """Draw wrong words for every answer by their frequency to a power (arXiv:1310.4546, sec. 2.2).

    "sampled" says yes or no to each (negative sampling); "nce" the same with the logarithm of the number of draws times
    the chance of each word taken off, which makes scores log-probabilities (Mnih and Kavukcuoglu 2013, eq. 8); "hinge"
    wants the right word one ahead; "softmax" is the cross-entropy of the right word among them all (Qiu et al.,
    arXiv:2003.08271, eq. 4). A draw that hits the right word is skipped and not drawn again (word2vec's released code),
    so there may be fewer; for "nce" it stays, because the estimate is right only with every draw.
    """

    num_negatives: int = knob(5, 1, 20, unit="wrong words", why="More of them come closer to the whole vocabulary.")
    ns_exponent: float = knob(0.75, 0.0, 1.0, unit="exponent", why="0 draws every word alike, 1 by how frequent it is.")
    loss: str = knob(
        "sampled",
        choices=("sampled", "nce", "hinge", "softmax"),
        why="Yes or no for each, the same less each word's chance, one ahead, or cross-entropy of the right one.",
    )
    keys: ClassVar[tuple[str, ...]] = ("wrong",)

    def plan(self, example: Batch, rng: Generator) -> Wrong:
        edges = chances(example.tokens, self.ns_exponent).cumsum(0)
        dice = sampling.noise((*_last(example).targets.shape, self.num_negatives), rng)
        found = torch.searchsorted((edges / edges[-1]).to(dice.dtype), dice, right=True)
        return Wrong(found.clamp(max=len(edges) - 1))

    def build(self, example: Batch, plan: Wrong) -> Batch:
        question = _last(example)
        drawn = plan.drawn[:, : question.targets.shape[1]]
        estimates, unasked = self.loss == "nce", ~question.loss_mask[..., None]
        skipped = unasked if estimates else unasked | (drawn == question.targets[..., None])
        log_chance = chances(example.tokens, self.ns_exponent).clamp(min=1e-12).log().float() if estimates else None
        contrast = NegativeSampling(drawn.masked_fill(skipped, -1), self._loss(), log_chance)
        return replace(example, questions=(*example.questions[:-1], replace(question, loss=contrast)))

    def _loss(self) -> Any:
        return self.loss

    def revise(self, example: Batch, plan: Wrong, wanted: Wishes) -> Wrong:
        if "wrong" not in wanted:
            return plan
        graded, names = _last(example).loss_mask[0], wanted["wrong"]
        needed = int(graded.sum()) * self.num_negatives
        if len(names) != needed:
            raise Refusal(
                f"The plan wrong names {len(names)} words; {needed} are needed, {self.num_negatives} for each answer."
            )
        drawn = plan.drawn.clone()
        ids = torch.tensor([word_id(example, name) for name in names], dtype=torch.long, device=drawn.device)
        drawn[:, graded] = ids.view(-1, self.num_negatives)
        return Wrong(drawn)

    def tell(self, example: Batch, plan: Wrong, row: int) -> dict[str, Any]:
        ids = plan.drawn[row][_last(example).loss_mask[row]].flatten().tolist()
        return {"wrong": [example.tokens.vocabulary[i] for i in ids] if example.tokens.vocabulary else ids}


def chances(tokens: Tokens, power: float) -> Tensor:
    """The chance `[v]` of every known word as noise: its count to a power; without any, all words are alike."""
    counts = counts_of(tokens)
    known = torch.arange(len(counts), device=counts.device) >= tokens.specials.first_word
    weights = counts.pow(power) * (counts > 0) * known
    weights = weights.where(weights.sum() > 0, known.double())
    return weights / weights.sum()


def _last(example: Batch) -> Target:
    return example.questions[-1]
