"""Choose which of the chosen sentences stay in the input."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, Spans
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.choose.spans import inside
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class KeepSomeSentences(Choose):
    """Leave some chosen sentences as they are, so that copying is learnt too (PEGASUS, arXiv:1912.08777, sec. 6.2).

    They must be written like the others. The paper leaves a fifth, the released settings a tenth.
    """

    unmasked_ratio: float = knob(0.2, 0.0, 1.0, unit="share of the chosen", why="More to copy, less to generate.")
    keys = ("intact",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """Which spans stay in the text, `[b, m]`."""
        noise = sampling.noise(tuple(batch.spans.start.shape), rng)
        return (noise < self.unmasked_ratio) & batch.spans.is_span

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        spans = batch.spans
        kept = plan[:, : spans.is_span.shape[1]] & spans.is_span  # a batch may have more, empty, columns
        intact = inside(Spans(spans.start, spans.length.where(kept, -1)), batch.tokens.ids.shape[1])
        left = Spans(spans.start.masked_fill(kept, 0), spans.length.masked_fill(kept, -1))
        action = batch.actions.masked_fill(intact, Action.SCORED_AS_IS)
        return replace(batch, spans=left, actions=action)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        sentences = _sentences(batch, 0)
        unknown = [n for n in overrides["intact"] if n not in sentences]
        if unknown:
            known = ", ".join(str(n) for n in sentences if n) or "none"
            raise UserError(f"Sentence {unknown[0]} is not among the chosen ones; those are: {known}.")
        kept = torch.tensor([n in overrides["intact"] for n in sentences], dtype=torch.bool, device=plan.device)
        return kept.expand_as(plan)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        kept = plan[row].tolist()
        return {"intact": [n for n, yes in zip(_sentences(batch, row), kept, strict=True) if yes]}


def _sentences(batch: Batch, row: int) -> list[int]:
    """The sentence (1-based) of every span of a row, 0 where there is no span."""
    there, sentence = batch.spans.is_span[row], batch.tokens.sentence_ids[row]
    starts = batch.spans.start[row].masked_fill(~there, 0).tolist()
    return [int(sentence[s] - sentence[0]) + 1 if yes else 0 for s, yes in zip(starts, there.tolist(), strict=True)]
