"""Choose which words are read at all: frequent ones are dropped at random."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, Tokens, arange, language_ids_at, stream
from playground.knob import knob
from playground.objectives.choose.tokens import Chosen, TokenChoice
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import collect


@dataclass(frozen=True)
class SubsampleFrequent(TokenChoice):
    """Drop frequent words at random, before windows are cut, so that windows reach further (arXiv:1310.4546, 2.3).

    A word of frequency f stays with the probability sqrt(t / f) + t / f (released code) or sqrt(t / f) (paper).
    Threshold 0 keeps all: in a vocabulary of a few hundred words every word is frequent.
    """

    threshold: float = knob(0.0, 0.0, 0.1, unit="frequency t", why="Words above it are thinned out; 0 keeps all.")
    rule: str = knob("code", choices=("code", "paper"), why="The released code keeps a little more than the paper.")

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        stays = keep_probability(word_counts(batch.tokens), self.threshold, self.rule)[batch.tokens.ids]
        return Chosen((sampling.noise(tuple(stays.shape), rng) < stays) & batch.maskable)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        chosen = plan.positions & batch.maskable
        dropped = batch.maskable & ~chosen
        left = collect(batch, batch.tokens.valid & ~dropped)
        inputs = stream(left.ids, left.origin, left.real, language=language_ids_at(batch.tokens, left.origin))
        action = batch.actions.masked_fill(dropped, Action.DELETED)
        return replace(batch, selected=chosen, actions=action, inputs=inputs)


def keep_probability(counts: Tensor, threshold: float, rule: str = "code") -> Tensor:
    """The probability `[v]` that a word stays; words that were never counted stay."""
    if threshold == 0:
        return torch.ones_like(counts)
    ratio = threshold * counts.sum() / counts
    return (ratio.sqrt() + (ratio if rule == "code" else 0.0)).clamp(max=1.0)


def word_counts(tokens: Tokens) -> Tensor:
    """How often each word occurs, `[v]`, specials 0: in the corpus where that is known, else in this batch."""
    specials, counts = tokens.specials, tokens.word_counts
    if counts is not None:
        return counts.double() * specials.in_text(arange(len(counts), counts.device))
    words = tokens.maskable.double().flatten()
    return torch.bincount(tokens.ids.flatten(), words, minlength=specials.size)


def word_weights(tokens: Tokens, power: float = 1.0) -> Tensor:
    """The count of each word `[v]` to a power, specials and the unknown word 0; where no word occurs, all are alike."""
    counts = word_counts(tokens)
    known = tokens.specials.is_word(arange(len(counts), counts.device))
    weights = counts.pow(power) * (counts > 0) * known
    return weights.where(weights.sum() > 0, known.double())
