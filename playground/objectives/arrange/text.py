"""Arrange one text."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.example import Example, Stream, stream
from playground.knob import knob


@dataclass(frozen=True)
class ArrangeText:
    """The text as it stands, or between [CLS] and [SEP] as BERT reads it (arXiv:1810.04805, sec. 3)."""

    wrap: bool = knob(False, why="Put [CLS] before and [SEP] after the text.")

    def build(self, example: Example) -> Example:
        if not self.wrap:
            return example
        specials = example.tokens.specials
        return replace(example, inputs=wrapped(example, specials.cls, specials.sep))


@dataclass(frozen=True)
class ArrangeShifted:
    """[START] and all tokens but the last: every position holds what came before its target (Radford et al. 2018)."""

    def build(self, example: Example) -> Example:
        tokens = example.tokens
        shifted = shift(tokens.ids, tokens.specials.start)
        origin = shift(example.inputs.origin, -1).where(tokens.real, -1)
        inputs = stream(shifted.where(tokens.real, tokens.specials.pad), origin, tokens.real, padded=tokens.padded)
        return replace(example, inputs=inputs)


def shift(values: Tensor, first: int) -> Tensor:
    """The row moved one place to the right, `[b, n]`, with a new first value and without its last."""
    return torch.cat([torch.full_like(values[:, :1], first), values[:, :-1]], dim=1)


def wrapped(example: Example, before: int, after: int) -> Stream:
    """The text with one token before and one right after its last token, `[b, t + 2]`."""
    tokens = example.tokens
    blank = torch.full_like(tokens.ids[:, :1], tokens.specials.pad)
    ids = torch.cat([torch.full_like(blank, before), tokens.ids, blank], dim=1)
    ids = ids.scatter(1, tokens.lengths[:, None] + 1, after)
    places = example.inputs.origin
    edge = torch.full_like(places[:, :1], -1)
    origin = torch.cat([edge, places, edge], dim=1)
    real = torch.arange(ids.shape[1], device=ids.device) < tokens.lengths[:, None] + 2
    return stream(ids, origin, real, padded=tokens.padded)
