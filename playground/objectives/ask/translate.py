"""Ask a decoder to translate."""

from dataclasses import dataclass, replace

import torch

from playground.example import Example
from playground.knob import knob
from playground.objectives.arrange.language import translation
from playground.objectives.ask.write import answered_so_far, asked_to_write, whole
from playground.objectives.weave import append


@dataclass(frozen=True)
class AskTranslation:
    """A decoder writes the second text while the encoder reads the first (CoVe, arXiv:1708.00107, sec. 3)."""

    end: bool = knob(True, why="Close the translation with [END], so that stopping is learnt.")

    def build(self, example: Example) -> Example:
        second = translation(example.tokens)
        written = whole(second)
        if self.end:
            written = append(written, second.specials.end, second.specials.pad)
        written = replace(written, origin=torch.full_like(written.ids, -1))
        decoder = answered_so_far(second, written)
        if "language" in second.labels:
            spoken = second.labels["language"].clamp(min=0).amax(1, keepdim=True)
            decoder = replace(decoder, language=spoken.expand(written.ids.shape))
        return asked_to_write(example, written, decoder, copying=False)
