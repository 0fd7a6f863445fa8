"""Ask a decoder to write."""

from dataclasses import dataclass, replace

import torch

from playground.example import Example, Question, Stream, at_origin, spoken, stream
from playground.knob import knob
from playground.objectives.arrange.text import shift
from playground.objectives.ask.words import asked
from playground.objectives.change.markers import markers
from playground.objectives.weave import Woven, append, collect, weave


@dataclass(frozen=True)
class AskToWrite:
    """A decoder writes: the whole text (BART), the missing parts (survey), or both behind numbered markers (T5).

    The survey's Table 2 shows only the missing part; BART (arXiv:1910.13461) writes all, T5 (arXiv:1910.10683) the
    parts behind their sentinels, MASS (arXiv:1905.02450) the fragment at its own places.
    """

    target: str = knob("text", choices=("text", "gaps", "sentinels", "fragment"), why="What the decoder must write.")
    end: bool = knob(False, why="Close the target with [END], so that stopping is learnt.")

    def build(self, example: Example) -> Example:
        tokens = example.tokens
        written = self.written(example)
        if self.end:
            written = append(written, tokens.specials.end, tokens.specials.pad)
        before = shift(written.ids, tokens.specials.start).where(written.real, tokens.specials.pad)
        came_from = shift(written.origin, -1).where(written.real, -1)
        language = spoken(tokens, came_from)
        decoder = stream(
            before, came_from, written.real, padded=self.target != "text" or tokens.padded, language=language
        )
        if self.target == "fragment":
            decoder = _in_its_own_places(example, written, decoder)
        question = Question(
            "written words",
            "vocabulary",
            "decoder",
            written.ids,
            written.real,
            written.origin,
            copying=self.target == "text",
        )
        return asked(replace(example, decoder=decoder), question)

    def written(self, example: Example) -> Woven:
        """What the decoder must write, `[b, n]`, and the place of the text that each answer stands at."""
        if self.target == "sentinels":
            nowhere = torch.full_like(example.spans.start, -1)
            return weave(example, example.chosen, markers(example, "sentinel"), nowhere)
        return collect(example, example.tokens.real if self.target == "text" else example.chosen)


def _in_its_own_places(example: Example, written: Woven, decoder: Stream) -> Stream:
    """MASS: the decoder starts from the visible word before the fragment and keeps the positions of the text."""
    tokens = example.tokens
    before = (written.origin - 1).where(written.origin >= 0, shift(written.origin, -1)).where(written.real, -1)
    ids = at_origin(tokens.ids, before, tokens.specials.start).where(written.real, tokens.specials.pad)
    return replace(decoder, ids=ids, origin=before, position=before.clamp(min=0), language=spoken(tokens, before))
