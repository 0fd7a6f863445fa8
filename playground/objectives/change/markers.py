"""Change spans into markers."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, token_strings
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.change.tokens import one_each, put, word_id, words_by
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import collapse_spans
from playground.objectives.stage import Change, PlanOverrides

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
    keys = ("marks",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The marker of each span, `[b, m]`."""
        marks = markers(batch, self.marker)
        if self.marker != "mask" or self.mask_random == 0:
            return marks
        random = sampling.noise(tuple(marks.shape), rng) < self.mask_random
        return words_by(sampling.noise(tuple(marks.shape), rng), batch).where(random, marks)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        inputs = collapse_spans(batch, plan).stream(batch.tokens)
        return replace(batch, inputs=inputs, actions=_actions(batch, plan))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if self.marker != "mask":
            raise UserError("The plan has marks, but the markers are numbered; set marker to mask, or leave marks out.")
        numbers = batch.spans.is_span[0].nonzero().flatten().tolist()
        words, mask = plan.clone(), batch.tokens.specials.mask
        for number, name in one_each(overrides["marks"], numbers, "marks", "spans").items():
            words[:, number] = mask if name == MASK else word_id(batch, name)
        return words

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        there = batch.spans.is_span[row]
        if self.marker != "mask" or bool((plan[row][there] == batch.tokens.specials.mask).all()):
            return {}
        return {"marks": token_strings(plan[row], there, batch.tokens.vocabulary)}


def _actions(batch: Batch, words: Tensor) -> Tensor:
    """What is done to each token `[b, t]`: the first of a span becomes its marker, the rest is deleted."""
    spans, action = batch.spans, batch.actions
    here = (spans.length > 0).flatten().nonzero()[:, 0]
    random = batch.tokens.specials.is_word(words.take(here))
    mark = random * (Action.RANDOMISED - Action.MASKED) + Action.MASKED
    hidden = batch.selected & (action != Action.SCORED_AS_IS)  # sentences may be left as they are
    first = (spans.start + sampling.first_of_rows(action)[:, None]).take(here)
    return put(action + hidden * (Action.DELETED - action), first, mark)


def markers(batch: Batch, kind: str) -> Tensor:
    """One marker id for every span, `[b, m]`: [MASK], or sentinels numbered from left to right."""
    spans = batch.spans
    if kind == "mask":
        return torch.full_like(spans.start, batch.tokens.specials.mask)
    return sentinel(batch, spans.is_span.cumsum(1) - 1)


def sentinel(batch: Batch, number: Tensor) -> Tensor:
    """The sentinel of each number; the last one stands for all that come after it."""
    specials = batch.tokens.specials
    sentinels = torch.tensor(specials.sentinels or [specials.id_of("sentinel")], device=number.device)
    return sentinels.take(number.clamp(0, len(sentinels) - 1))
