"""Change spans into markers."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, token_strings
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.change.tokens import one_each, put, word_id, words_by
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import collapse_spans
from playground.objectives.stage import Change, Wishes

MASK = "[MASK]"
"""The name of a marker that is no word, in a plan by hand."""


@dataclass(frozen=True)
class SpansToSentinels(Change):
    """Replace every span by one marker: the same [MASK] (BART) or a numbered sentinel each (T5, sec. 3.1.4).

    Spans are text positions, so this comes before all that moves words. fairseq's command for BART puts a random word
    in the place of a tenth of the masks.
    """

    marker: str = knob("mask", choices=("mask", "sentinel"), why="Sentinels say which gap an answer fills.")
    mask_random: float = knob(0.0, 0.0, 1.0, unit="share of the masks", why="A random word hides that a gap is there.")
    keys: ClassVar[tuple[str, ...]] = ("marks",)

    def plan(self, example: Batch, rng: Generator) -> Tensor:
        """The marker of each span, `[b, m]`."""
        marks = markers(example, self.marker)
        if self.marker != "mask" or self.mask_random == 0:
            return marks
        random = sampling.noise(tuple(marks.shape), rng) < self.mask_random
        return words_by(sampling.noise(tuple(marks.shape), rng), example).where(random, marks)

    def build(self, example: Batch, plan: Tensor) -> Batch:
        inputs = collapse_spans(example, plan).stream(example.tokens)
        return replace(example, inputs=inputs, actions=_actions(example, plan))

    def revise(self, example: Batch, plan: Tensor, wanted: Wishes) -> Tensor:
        if "marks" not in wanted:
            return plan
        if self.marker != "mask":
            raise UserError("The plan has marks, but the markers are numbered; set marker to mask, or leave marks out.")
        numbers = example.spans.is_span[0].nonzero().flatten().tolist()
        words, mask = plan.clone(), example.tokens.specials.mask
        for number, name in one_each(wanted["marks"], numbers, "marks", "spans").items():
            words[:, number] = mask if name == MASK else word_id(example, name)
        return words

    def tell(self, example: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        there = example.spans.is_span[row]
        if self.marker != "mask" or bool((plan[row][there] == example.tokens.specials.mask).all()):
            return {}
        return {"marks": token_strings(plan[row], there, example.tokens.vocabulary)}


def _actions(example: Batch, words: Tensor) -> Tensor:
    """What is done to each token `[b, t]`: the first of a span becomes its marker, the rest is deleted."""
    spans, action = example.spans, example.actions
    here = (spans.length > 0).flatten().nonzero()[:, 0]
    random = example.tokens.specials.is_word(words.take(here))
    mark = random * (Action.RANDOMISED - Action.MASKED) + Action.MASKED
    hidden = example.selected & (action != Action.GRADED_AS_IS)  # sentences may be left as they are
    first = (spans.start + sampling.first_of_rows(action)[:, None]).take(here)
    return put(action + hidden * (Action.DELETED - action), first, mark)


def markers(example: Batch, kind: str) -> Tensor:
    """One marker id for every span, `[b, m]`: [MASK], or sentinels numbered from left to right."""
    spans = example.spans
    if kind == "mask":
        return torch.full_like(spans.start, example.tokens.specials.mask)
    return sentinel(example, spans.is_span.cumsum(1) - 1)


def sentinel(example: Batch, number: Tensor) -> Tensor:
    """The sentinel of each number; the last one stands for all that come after it."""
    specials = example.tokens.specials
    sentinels = torch.tensor(specials.sentinels or [specials.id_of("sentinel")], device=number.device)
    return sentinels.take(number.clamp(0, len(sentinels) - 1))
