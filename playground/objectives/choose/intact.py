"""Choose which hidden sentences are shown all the same."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, Spans
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, Wishes


@dataclass(frozen=True)
class Intact:
    """Which spans stay in the text, `[b, m]`."""

    spans: Tensor


@dataclass(frozen=True)
class KeepSomeSentences(Choose):
    """Leave some chosen sentences as they are, so that copying is learnt too (PEGASUS, arXiv:1912.08777, sec. 6.2).

    They must be written like the others. The paper leaves a fifth, the released settings a tenth.
    """

    unmasked_ratio: float = knob(0.2, 0.0, 1.0, unit="share of the chosen", why="More to copy, less to make up.")
    keys: ClassVar[tuple[str, ...]] = ("intact",)

    def plan(self, example: Batch, rng: Generator) -> Intact:
        dice = sampling.noise(tuple(example.spans.start.shape), rng)
        return Intact((dice < self.unmasked_ratio) & example.spans.is_span)

    def build(self, example: Batch, plan: Intact) -> Batch:
        spans = example.spans
        kept = plan.spans[:, : spans.is_span.shape[1]] & spans.is_span  # a batch may have more, empty, columns
        action = example.actions.masked_fill(covered(example, spans, kept), Action.GRADED_AS_IS)
        left = Spans(spans.start.masked_fill(kept, 0), spans.length.masked_fill(kept, -1))
        return replace(example, spans=left, actions=action)

    def revise(self, example: Batch, plan: Intact, wanted: Wishes) -> Intact:
        if "intact" not in wanted:
            return plan
        sentences = _sentences(example, 0)
        strange = [n for n in wanted["intact"] if n not in sentences]
        if strange:
            known = ", ".join(str(n) for n in sentences if n) or "none"
            raise Refusal(f"Sentence {strange[0]} is not among the chosen ones; those are: {known}.")
        kept = torch.tensor([n in wanted["intact"] for n in sentences], dtype=torch.bool, device=plan.spans.device)
        return Intact(kept.expand_as(plan.spans))

    def tell(self, example: Batch, plan: Intact, row: int) -> dict[str, Any]:
        kept = plan.spans[row].tolist()
        return {"intact": [n for n, yes in zip(_sentences(example, row), kept, strict=True) if yes]}


def covered(example: Batch, spans: Spans, which: Tensor) -> Tensor:
    """The places of the text `[b, t]` that lie in one of some spans `[b, m]`."""
    width, used = example.tokens.ids.shape[1], (which & (spans.length > 0)).long()
    steps = torch.zeros((len(used), width + 1), dtype=torch.long, device=used.device)
    steps.scatter_add_(1, spans.start * used, used)
    steps.scatter_add_(1, (spans.start + spans.length) * used, -used)
    return steps.cumsum(1)[:, :width] > 0


def _sentences(example: Batch, row: int) -> list[int]:
    """The sentence (1-based) of every span of a row, 0 where there is no span."""
    sentence, spans = example.tokens.sentence_ids[row], example.spans
    starts = spans.start[row].masked_fill(~spans.is_span[row], 0).tolist()
    there = spans.is_span[row].tolist()
    return [int(sentence[s] - sentence[0]) + 1 if yes else 0 for s, yes in zip(starts, there, strict=True)]
