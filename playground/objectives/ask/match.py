"""Ask which run of words fits the gap of a text."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Batch, Target, arange_rows, language_ids_at, stream
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.ops.ragged import collect
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskInBatchContrast(Ask):
    """Whose n-gram is missing here, among those of the whole batch (InfoWord, arXiv:1910.08350, sec. 4).

    Asked once at the first sign; the n-gram alone, behind a sign of its own, is an example beside. Without
    `duplicates_as_negatives` an equal n-gram of another text is no wrong answer.
    """

    duplicates_as_negatives: bool = knob(False, why="Count the same n-gram of another text as wrong.")
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much this loss counts beside others.")

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        place = arange_rows(inputs.ids)
        graded = (place == 0) & example.selected.any(1, keepdim=True)
        partner = _alone(example)
        group = (
            torch.arange(len(place), device=place.device)
            if self.duplicates_as_negatives
            else _groups(partner.inputs.ids)
        )
        targets = group[:, None].where(graded, 0)
        nowhere = torch.full_like(inputs.ids, -1)
        question = Target("match", "match", "inputs", targets, graded, nowhere, self.weight)
        return asked(replace(example, auxiliary=(*example.auxiliary, partner)), question)


def _alone(example: Batch) -> Batch:
    """The chosen words behind [CLS], as they stand in the text."""
    found, cls = collect(example, example.selected), example.tokens.specials.cls
    lead = torch.ones_like(found.real[:, :0].sum(1, keepdim=True))
    ids = torch.cat([lead * cls, found.ids], dim=1)
    origin = torch.cat([-lead, found.origin], dim=1)
    real = torch.cat([lead > 0, found.real], dim=1)
    kept = torch.zeros_like(example.actions)
    inputs = stream(ids, origin, real, language=language_ids_at(example.tokens, origin))
    return replace(example, inputs=inputs, actions=kept, auxiliary=(), questions=())


def _groups(ids: Tensor) -> Tensor:
    """The same number for rows `[b, n]` that are the same."""
    return ids.unique(dim=0, return_inverse=True)[1]
