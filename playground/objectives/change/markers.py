"""Change spans into markers."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.change.tokens import one_each, put, word_id, words_by
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import fold
from playground.objectives.stage import Change, Wishes

MASK = "[MASK]"
"""How a person names a marker that is no word."""


@dataclass(frozen=True)
class Marks:
    """What stands in the place of each span, `[b, m]`."""

    ids: Tensor


@dataclass(frozen=True)
class SpansToSentinels(Change):
    """Fold every span into one marker: the same [MASK] (BART) or a numbered sentinel each (T5, sec. 3.1.4).

    Spans are places of the text, so this comes before all that moves words. fairseq's command for BART puts a random
    word in the place of a tenth of the masks.
    """

    marker: str = knob("mask", choices=("mask", "sentinel"), why="Numbered markers say which gap an answer fills.")
    mask_random: float = knob(0.0, 0.0, 1.0, unit="share of the masks", why="A random word hides that a gap is there.")
    keys: ClassVar[tuple[str, ...]] = ("marks",)

    def plan(self, example: Batch, rng: Generator) -> Marks:
        marks = markers(example, self.marker)
        if self.marker != "mask" or self.mask_random == 0:
            return Marks(marks)
        lucky = sampling.noise(tuple(marks.shape), rng) < self.mask_random
        return Marks(words_by(sampling.noise(tuple(marks.shape), rng), example).where(lucky, marks))

    def build(self, example: Batch, plan: Marks) -> Batch:
        folded = fold(example, plan.ids)
        inputs = folded.stream(example.tokens)
        return replace(example, inputs=inputs, actions=_folded(example, plan.ids))

    def revise(self, example: Batch, plan: Marks, wanted: Wishes) -> Marks:
        if "marks" not in wanted:
            return plan
        if self.marker != "mask":
            raise Refusal("The plan says marks, but the markers are numbered; set marker to mask, or leave marks out.")
        numbers = example.spans.is_span[0].nonzero().flatten().tolist()
        words, mask = plan.ids.clone(), example.tokens.specials.mask
        for number, name in one_each(wanted["marks"], numbers, "marks", "spans").items():
            words[:, number] = mask if name == MASK else word_id(example, name)
        return Marks(words)

    def tell(self, example: Batch, plan: Marks, row: int) -> dict[str, Any]:
        said = plan.ids[row][example.spans.is_span[row]].tolist()
        if self.marker != "mask" or all(word == example.tokens.specials.mask for word in said):
            return {}
        return {"marks": [example.tokens.vocabulary[word] for word in said]}


def _folded(example: Batch, words: Tensor) -> Tensor:
    """What is done to each token `[b, t]`: the first of a span is its marker, the rest is folded away."""
    spans, (rows, width), action = example.spans, example.tokens.ids.shape, example.actions
    row = torch.arange(rows, device=words.device)[:, None] * width
    here = (spans.length > 0).flatten().nonzero()[:, 0]
    random = words.take(here) >= example.tokens.specials.first_word
    mark = random * (Action.RANDOMISED - Action.MASKED) + Action.MASKED
    hidden = example.selected & (action != Action.GRADED_AS_IS)  # sentences may be left as they are
    return put(action + hidden * (Action.DELETED - action), (spans.start + row).take(here), mark)


def markers(example: Batch, kind: str) -> Tensor:
    """One marker id for every span, `[b, m]`: [MASK], or sentinels numbered from left to right."""
    spans = example.spans
    if kind == "mask":
        return torch.full_like(spans.start, example.tokens.specials.mask)
    return sentinel(example, spans.is_span.cumsum(1) - 1)


def sentinel(example: Batch, number: Tensor) -> Tensor:
    """The sentinel of each number; the last one stands for all that come after it."""
    sentinels = _sentinels(example.tokens.specials.sentinels, number.device)
    return sentinels.take(number.clamp(0, len(sentinels) - 1))


@cache
def _sentinels(ids: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(ids, device=device)
