"""Choose which words are read at all: frequent ones are dropped now and then."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, Tokens, language_ids_at, stream
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.tokens import Chosen
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import collect
from playground.objectives.stage import Choose, Wishes


@dataclass(frozen=True)
class SubsampleFrequent(Choose):
    """Drop frequent words now and then, before windows are laid, so that windows reach further (arXiv:1310.4546, 2.3).

    A word of frequency f stays with the chance sqrt(t / f) + t / f (released code) or sqrt(t / f) (paper). Threshold 0
    keeps all: in a vocabulary of a few hundred words every word is frequent.
    """

    threshold: float = knob(0.0, 0.0, 0.1, unit="frequency t", why="Words above it are thinned out; 0 keeps all.")
    rule: str = knob("code", choices=("code", "paper"), why="The released code keeps a little more than the paper.")
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, example: Batch, rng: Generator) -> Chosen:
        stays = keeping(counts_of(example.tokens), self.threshold, self.rule)[example.tokens.ids]
        return Chosen((sampling.noise(tuple(stays.shape), rng) < stays) & example.maskable)

    def build(self, example: Batch, plan: Chosen) -> Batch:
        chosen = plan.positions & example.maskable
        dropped = example.maskable & ~chosen
        left = collect(example, example.tokens.valid & ~dropped)
        inputs = stream(left.ids, left.origin, left.real, language=language_ids_at(example.tokens, left.origin))
        action = example.actions.masked_fill(dropped, int(Action.DELETED))
        return replace(example, selected=chosen, actions=action, inputs=inputs)

    def revise(self, example: Batch, plan: Chosen, wanted: Wishes) -> Chosen:
        return Chosen(plan_overrides.places(example, wanted["chosen"])) if "chosen" in wanted else plan

    def tell(self, example: Batch, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": plan_overrides.words_of(example, plan.positions, row)}


def keeping(counts: Tensor, threshold: float, rule: str = "code") -> Tensor:
    """The chance `[v]` that a word stays; words that were never counted stay."""
    if threshold == 0:
        return torch.ones_like(counts)
    share = threshold * counts.sum() / counts
    return (share.sqrt() + (share if rule == "code" else 0.0)).clamp(max=1.0)


def counts_of(tokens: Tokens) -> Tensor:
    """How often each word occurs, `[v]`, specials 0: in the corpus where that is known, else in this batch."""
    specials = tokens.specials
    if tokens.word_counts is not None:
        is_word = torch.arange(len(tokens.word_counts), device=tokens.word_counts.device) >= specials.unknown
        return tokens.word_counts.double() * is_word
    words = tokens.maskable.double().flatten()
    return torch.bincount(tokens.ids.flatten(), words, minlength=specials.size)
