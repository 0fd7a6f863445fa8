"""Ask for words at their places."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from playground.example import Example, Question, at_origin
from playground.knob import knob
from playground.objectives.change.trigrams import movable


@dataclass(frozen=True)
class AskInPlace:
    """The original word at every chosen position, and nothing elsewhere (BERT, arXiv:1810.04805, sec. 3.1)."""

    def build(self, example: Example) -> Example:
        return asked(example, in_place(example, "inputs"))


@dataclass(frozen=True)
class AskMoved:
    """The original word at every place of the shuffled runs (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    The input shows the word at another place of its run, because finding the place is the task.
    """

    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much the order counts beside the hidden words.")

    def build(self, example: Example) -> Example:
        inputs, tokens = example.inputs, example.tokens
        slot = at_origin(example.rank, inputs.origin, -1)
        graded = at_origin(movable(example).of >= 0, inputs.origin, False)
        targets = at_origin(tokens.ids, slot, tokens.specials.pad)
        return asked(
            example,
            Question("word order", "vocabulary", "inputs", targets, graded, slot, self.weight, copying=True),
        )


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
