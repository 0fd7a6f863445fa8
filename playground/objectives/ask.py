"""Ask: what must be predicted, where the answer is read, and which answers are graded."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from playground.example import Action, Example, Question, Stream, at_origin, stream
from playground.knob import knob
from playground.objectives.arrange import shift
from playground.objectives.change import markers
from playground.objectives.weave import Woven, append, collect, weave


@dataclass(frozen=True)
class AskInPlace:
    """The original word at every chosen position, and nothing elsewhere (BERT, arXiv:1810.04805, sec. 3.1)."""

    def build(self, example: Example) -> Example:
        return asked(example, in_place(example, "inputs"))


@dataclass(frozen=True)
class AskNext:
    """The next word at every position, from a shifted input (Radford et al. 2018, eq. 1)."""

    def build(self, example: Example) -> Example:
        tokens = example.tokens
        places = torch.arange(tokens.ids.shape[1], device=tokens.ids.device).expand_as(tokens.ids)
        question = Question("next word", "vocabulary", "inputs", tokens.ids, tokens.real, places.where(tokens.real, -1))
        return asked(replace(example, chosen=tokens.real), question)


@dataclass(frozen=True)
class AskContinuation:
    """The next word, from the last word of the first part on (T5's prefix language model, sec. 3.2.3).

    The last given word predicts the first word of the second part; the last word of all predicts nothing.
    """

    def build(self, example: Example) -> Example:
        tokens = example.tokens
        place = torch.arange(tokens.ids.shape[1], device=tokens.ids.device).expand_as(tokens.ids)
        ahead = torch.cat([example.chosen[:, 1:], torch.zeros_like(example.chosen[:, :1])], dim=1)
        nothing = torch.full_like(tokens.ids[:, :1], tokens.specials.pad)
        targets = torch.cat([tokens.ids[:, 1:], nothing], dim=1)
        question = Question("next word", "vocabulary", "inputs", targets, ahead, (place + 1).where(ahead, -1))
        return asked(example, question)


@dataclass(frozen=True)
class AskQueryStream:
    """The word at each target position, from the stream that knows the place but not the word (XLNet, sec. 2.3)."""

    def build(self, example: Example) -> Example:
        return asked(example, in_place(example, "query"))


@dataclass(frozen=True)
class AskReplaced:
    """Original or replaced, everywhere; a lucky sample counts as original (ELECTRA, arXiv:2003.10555, sec. 3.1)."""

    weight: float = knob(50.0, 0.0, 100.0, unit="times the generator's loss", why="A yes-or-no loss is small.")

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        label = (at_origin(example.action, inputs.origin) == Action.REPLACED).long()
        nowhere = torch.full_like(inputs.origin, -1)
        question = Question("replaced?", "replaced", "inputs", label, inputs.real, nowhere, self.weight)
        return asked(example, question)


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
        decoder = stream(before, came_from, written.real, padded=self.target != "text" or tokens.padded)
        if self.target == "fragment":
            decoder = _in_its_own_places(example, written, decoder)
        question = Question(
            "missing words" if self.target != "text" else "whole text",
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
    return replace(decoder, ids=ids, origin=before, position=before.clamp(min=0))


def in_place(example: Example, reader: Literal["inputs", "query"]) -> Question:
    """A question for the original word at every chosen position of the input."""
    inputs = example.inputs
    graded = at_origin(example.chosen, inputs.origin, False)
    targets = at_origin(example.tokens.ids, inputs.origin, example.tokens.specials.pad)
    return Question("hidden words", "vocabulary", reader, targets, graded, inputs.origin)


def asked(example: Example, question: Question) -> Example:
    """The example with one more question."""
    return replace(example, questions=(*example.questions, question))


def graded(question: Question) -> Tensor:
    """The number of graded answers of each row, `[b]`."""
    return question.graded.sum(1)
