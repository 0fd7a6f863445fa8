"""Ask a decoder for the second of two texts: a translation or an answer."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Batch, Tokens
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.arrange.language import translation
from playground.objectives.ask.write import answered_so_far, asked_to_write, whole
from playground.objectives.ops.ragged import append
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskTranslation(Ask):
    """A decoder writes the second text while the encoder reads the first (CoVe, arXiv:1708.00107, sec. 3)."""

    add_eos: bool = knob(True, why="Close the translation with [END], so that stopping is learnt.")

    def build(self, example: Batch) -> Batch:
        return asked_to_say(example, translation(example.tokens), self.add_eos)


@dataclass(frozen=True)
class AskAnswer(Ask):
    """A decoder writes the answer that stands beside the text, in words (T5, arXiv:1910.10683, sec. 2.4)."""

    add_eos: bool = knob(True, why="Close the answer with [END], so that stopping is learnt.")

    def build(self, example: Batch) -> Batch:
        if "next" not in example.tokens.neighbours:
            raise Refusal("This objective needs an answer beside the text; this corpus or text has none.")
        return asked_to_say(example, example.tokens.neighbours["next"], self.add_eos)


def asked_to_say(example: Batch, second: Tokens, end: bool) -> Batch:
    """The example with a decoder that must write another text."""
    written = whole(second)
    if end:
        written = append(written, second.specials.end, second.specials.pad)
    written = replace(written, origin=torch.full_like(written.ids, -1))
    decoder = answered_so_far(second, written)
    if "language" in second.labels:
        language = torch.nn.functional.pad(second.labels["language"], (0, 1))  # an empty text speaks language 0
        spoken = language.amax(1, keepdim=True).clamp(min=0)
        decoder = replace(decoder, language_ids=spoken.expand(written.ids.shape))
    return asked_to_write(example, written, decoder, copying=False)
