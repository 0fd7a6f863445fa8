"""Ask for words at their places."""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from playground.batch import MASKED_LEVEL, Batch, Target, arange_rows, gather_origin
from playground.knob import knob
from playground.objectives.change.trigrams import movable
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskMasked(Ask):
    """The original word at every chosen position, and nothing elsewhere (BERT, arXiv:1810.04805, sec. 3.1)."""

    def build(self, example: Batch) -> Batch:
        return asked(example, in_place(example, "inputs"))


@dataclass(frozen=True)
class AskMoved(Ask):
    """The original word at every place of the shuffled runs (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    The input shows the word at another place of its run, because finding the place is the task.
    """

    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much the order counts beside the hidden words.")

    def build(self, example: Batch) -> Batch:
        inputs, tokens = example.inputs, example.tokens
        slot = gather_origin(example.prediction_order, inputs.origin, -1)
        graded = gather_origin(movable(example).of >= 0, inputs.origin, False)
        targets = gather_origin(tokens.ids, slot, tokens.specials.pad)
        return asked(
            example,
            Target("word order", "vocabulary", "inputs", targets, graded, slot, self.weight, copying=True),
        )


@dataclass(frozen=True)
class AskNext(Ask):
    """The next word at every position of a shifted input (Radford et al. 2018, eq. 1), or the previous one (ELMo).

    Where the input has one position more than the text has words, the sign that closes the text is an answer too.
    """

    side: Literal["left", "right"] = "left"
    context_size: int = knob(
        0, 0, 64, unit="words", why="The first words are read but not scored (XLM's context size)."
    )
    weight: float = knob(1.0, 0.0, 1.0, unit="times", why="What one direction counts: a half of two, or all of it.")

    def build(self, example: Batch) -> Batch:
        tokens, inputs = example.tokens, example.inputs
        position = arange_rows(inputs.ids)
        count = inputs.valid.sum(1, keepdim=True)
        place = position if self.side == "left" else position - (count - tokens.lengths[:, None])
        origin = place.where(inputs.valid & (place >= 0) & (place < tokens.lengths[:, None]), -1)
        sign = torch.full_like(place, tokens.specials.end if self.side == "left" else tokens.specials.start)
        targets = gather_origin(tokens.ids, origin).where(origin >= 0, sign).where(inputs.valid, tokens.specials.pad)
        read = position if self.side == "left" else count - 1 - position
        name = "next word" if self.side == "left" else "previous word"
        graded = inputs.valid & (read >= self.context_size)
        question = Target(name, "vocabulary", "inputs", targets, graded, origin, self.weight)
        return asked(replace(example, selected=tokens.valid), question)


@dataclass(frozen=True)
class AskContinuation(Ask):
    """The next word, from the last word of the first part on (T5's prefix language model, sec. 3.2.3).

    The last given word predicts the first word of the second part; the last word of all predicts nothing. With "all"
    the words of the first part are asked for too, though the place that answers sees them; the leak check says so.
    """

    loss_on: str = knob("second part", choices=("second part", "all"), why="The first part stands in sight of itself.")

    def build(self, example: Batch) -> Batch:
        tokens = example.tokens
        place = arange_rows(tokens.ids)
        asked_for = tokens.valid if self.loss_on == "all" else example.selected
        ahead = torch.cat([asked_for[:, 1:], torch.zeros_like(asked_for[:, :1])], dim=1)
        nothing = torch.full_like(tokens.ids[:, :1], tokens.specials.pad)
        targets = torch.cat([tokens.ids[:, 1:], nothing], dim=1)
        question = Target("next word", "vocabulary", "inputs", targets, ahead, (place + 1).where(ahead, -1))
        return asked(example, question)


@dataclass(frozen=True)
class AskQueryStream(Ask):
    """The word at each target position, from the stream that knows the place but not the word (XLNet, sec. 2.3).

    Where there is one stream only, it must answer itself; where it is not told the place, the word before in the order
    answers.
    """

    def build(self, example: Batch) -> Batch:
        question = in_place(example, "inputs" if example.inputs.query_attn_mask is None else "query")
        return asked(example, one_step_ahead(example, question) if example.inputs.predicts_next else question)


def one_step_ahead(example: Batch, question: Target) -> Target:
    """The same question asked one step earlier in the order, of whoever comes right before the place it is about."""
    inputs = example.inputs
    rank = gather_origin(example.prediction_order, inputs.origin, -1)
    width = inputs.ids.shape[1]
    level = inputs.attn_mask.query_level.long() * (width + 1) + rank
    order = level.masked_fill(~inputs.valid, MASKED_LEVEL * (width + 1)).argsort(dim=1, stable=True)
    after = torch.full_like(order, -1).scatter_(1, order[:, :-1], order[:, 1:])
    there = after.clamp(min=0)
    graded = question.loss_mask.gather(1, there) & (after >= 0)
    origin = question.origin.gather(1, there).where(graded, -1)
    targets = question.targets.gather(1, there).where(graded, example.tokens.specials.pad)
    return replace(question, targets=targets, loss_mask=graded, origin=origin)


def in_place(example: Batch, reader: Literal["inputs", "query"]) -> Target:
    """A question for the original word at every chosen position of the input."""
    inputs = example.inputs
    graded = gather_origin(example.selected, inputs.origin, False)
    targets = gather_origin(example.tokens.ids, inputs.origin, example.tokens.specials.pad)
    return Target("hidden words", "vocabulary", reader, targets, graded, inputs.origin)


def asked(example: Batch, question: Target) -> Batch:
    """The example with one more question."""
    return replace(example, questions=(*example.questions, question))
