"""Propose: negatives sampled from the word counts, for negative sampling and its relatives."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Generator, Tensor

from playground.answers import NegativeSampling, sampling_unit
from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.change.tokens import word_id
from playground.objectives.choose.subsampling import word_weights
from playground.objectives.ops import sampling
from playground.objectives.stage import PlanOverrides, Propose


@dataclass(frozen=True)
class SampleNegatives(Propose):
    """Draw wrong words for every answer by their frequency to a power (arXiv:1310.4546, sec. 2.2).

    "sampled" is yes or no for each (negative sampling); "nce" the same less the logarithm of the number of draws times
    the probability of each word, which makes scores log-probabilities (Mnih and Kavukcuoglu 2013, eq. 8); "hinge" wants
    the right word one ahead; "softmax" is the cross-entropy of the right word among them all (Qiu et al.,
    arXiv:2003.08271, eq. 4). A draw that hits the right word is skipped and not drawn again (word2vec's released code),
    so there may be fewer; for "nce" it stays, because the estimate is right only with every draw.
    """

    num_negatives: int = knob(5, 1, 20, unit="wrong words", why="More of them come closer to the whole vocabulary.")
    ns_exponent: float = knob(
        0.75,
        0.0,
        1.0,
        unit="exponent",
        why="0 samples all words with the same probability, 1 in proportion to their frequency.",
    )
    loss: Literal["sampled", "nce", "hinge", "softmax"] = knob(
        "sampled",
        choices=("sampled", "nce", "hinge", "softmax"),
        why="Binary loss, binary loss minus the noise, hinge loss, or cross-entropy of the right one.",
    )
    keys = ("wrong",)

    @property
    def unit(self) -> str:
        """The unit of the loss."""
        return sampling_unit(self.loss)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The words drawn for every position of the last target, `[b, n, k]`."""
        edges = noise_probability(batch.tokens, self.ns_exponent).cumsum(0)
        noise = sampling.noise((*batch.targets[-1].labels.shape, self.num_negatives), rng)
        drawn = torch.searchsorted((edges / edges[-1]).to(noise.dtype), noise, right=True)
        return drawn.clamp(max=len(edges) - 1)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        target, log_noise_prob = batch.targets[-1], None
        drawn = plan[:, : target.labels.shape[1]]
        skipped = ~target.loss_mask[..., None]
        if self.loss == "nce":
            log_noise_prob = noise_probability(batch.tokens, self.ns_exponent).clamp(min=1e-12).log().float()
        else:
            skipped = skipped | (drawn == target.labels[..., None])
        kind = NegativeSampling(drawn.masked_fill(skipped, -1), self.loss, log_noise_prob)
        return replace(batch, targets=(*batch.targets[:-1], replace(target, kind=kind)))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        scored, names = batch.targets[-1].loss_mask[0], overrides["wrong"]
        needed = int(scored.sum()) * self.num_negatives
        if len(names) != needed:
            raise UserError(
                f"The plan wrong names {len(names)} words; {needed} are needed, {self.num_negatives} for each answer."
            )
        drawn = plan.clone()
        ids = torch.tensor([word_id(batch, name) for name in names], dtype=torch.long, device=drawn.device)
        drawn[:, scored] = ids.view(-1, self.num_negatives)
        return drawn

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        ids = plan[row][batch.targets[-1].loss_mask[row]].flatten().tolist()
        return {"wrong": [batch.tokens.vocabulary[i] for i in ids] if batch.tokens.vocabulary else ids}


def noise_probability(tokens: Tokens, power: float) -> Tensor:
    """The probability `[v]` of every known word as a negative: its count to a power; without counts all are alike."""
    weights = word_weights(tokens, power)
    return weights / weights.sum()
