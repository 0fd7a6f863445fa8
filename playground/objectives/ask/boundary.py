"""Ask for hidden words from the two words around their run."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.batch import Batch, Target, arange_rows, gather_origin
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.ops.segments import Runs, places, runs
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskSpanBoundary(Ask):
    """Each word of a hidden run, from the words on both sides of the run and its number within (SpanBERT, sec. 3.2).

    Only the first `sbo_max_length` words of a run are asked, and none of a run that touches the end of its text
    (released code).
    """

    sbo_max_length: int = knob(15, 1, 32, unit="words of a run", why="More of a long run cannot be told from its ends.")
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much the ends count beside the words in place.")

    def build(self, example: Batch) -> Batch:
        inputs, tokens = example.inputs, example.tokens
        hidden = runs(example, example.selected)
        inner = places(example) - hidden.first
        graded = gather_origin(has_ends(example, hidden) & (inner < self.sbo_max_length), inputs.origin, False)
        position = arange_rows(inputs.ids)
        left = position - 1 - gather_origin(inner, inputs.origin)
        right = position + 1 + gather_origin(hidden.last - places(example), inputs.origin)
        question = Target(
            "span boundary",
            "vocabulary",
            "inputs",
            gather_origin(tokens.ids, inputs.origin, tokens.specials.pad),
            graded,
            inputs.origin,
            self.weight,
            reads=torch.stack([left, right], dim=2).masked_fill(~graded[..., None], 0),
        )
        return asked(example, question)


def has_ends(example: Batch, hidden: Runs) -> Tensor:
    """Which hidden places `[b, t]` lie in a run with a word right before and right behind it."""
    block = runs(example, example.maskable)
    inside = (hidden.first > block.first) & (hidden.last < block.last)
    return (hidden.of >= 0) & (block.of >= 0) & inside
