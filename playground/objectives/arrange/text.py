"""Arrange one text."""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from playground.batch import Batch, Stream, gather_origin, language_ids_at, stream
from playground.knob import knob
from playground.objectives.stage import Arrange


@dataclass(frozen=True)
class ArrangeText(Arrange):
    """The text as it stands, or between [CLS] and [SEP] as BERT reads it (arXiv:1810.04805, sec. 3)."""

    add_special_tokens: bool = knob(False, why="Put [CLS] before and [SEP] after the text.")

    def build(self, example: Batch) -> Batch:
        if not self.add_special_tokens:
            return example
        specials = example.tokens.specials
        return replace(example, inputs=wrapped(example, specials.cls, specials.sep))


@dataclass(frozen=True)
class ShiftRight(Arrange):
    """Every position holds the word beside its answer; one sign stands in for the word that is missing.

    From the left (Radford et al. 2018): [START] and all words but the last. From the right, for a reader that goes
    backwards (ELMo, arXiv:1802.05365, sec. 3.1): all words but the first and [END]; a second network may read it.
    """

    side: Literal["left", "right"] = "left"
    add_eos: bool = knob(False, why="One more answer, the sign after the last word, so that stopping is learnt.")

    def build(self, example: Batch) -> Batch:
        tokens, specials = example.tokens, example.tokens.specials
        signs = int(self.add_eos)
        count = tokens.lengths[:, None] + signs
        place = torch.arange(tokens.ids.shape[1] + signs, device=count.device).expand(len(count), -1)
        real = place < count
        shown = place - 1 if self.side == "left" else place + 1 - signs
        origin = shown.where(real & (shown >= 0) & (shown < tokens.lengths[:, None]), -1)
        sign = torch.full_like(place, specials.start if self.side == "left" else specials.end)
        ids = gather_origin(tokens.ids, origin).where(origin >= 0, sign).where(real, specials.pad)
        inputs = stream(ids, origin, real, padded=tokens.padded, language=language_ids_at(tokens, origin))
        return replace(example, inputs=inputs, network="main" if self.side == "left" else "backward")


def wrapped(example: Batch, before: int, after: int) -> Stream:
    """The text with one token before and one right after its last token, `[b, t + 2]`."""
    tokens = example.tokens
    blank = torch.full_like(tokens.lengths[:, None], tokens.specials.pad)
    ids = torch.cat([torch.full_like(blank, before), tokens.ids, blank], dim=1)
    ids = ids.scatter(1, tokens.lengths[:, None] + 1, after)
    places = example.inputs.origin
    edge = torch.full_like(blank, -1)
    origin = torch.cat([edge, places, edge], dim=1)
    real = torch.arange(ids.shape[1], device=ids.device) < tokens.lengths[:, None] + 2
    return stream(ids, origin, real, padded=tokens.padded, language=language_ids_at(tokens, origin))
