"""Labels that the model reads with the words."""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from playground.batch import Action, Batch, LabelIds, gather_origin
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeLabels(See):
    """A label at every position of the input, whose vector is added to that of the word (SentiLARE, arXiv:1911.02493).

    A label of "words" is unknown where the word is hidden or random, and so at special tokens; a word that stays as it
    is keeps its label (released code). A label of the "text" stands at all of its words, hidden or not.
    """

    label: str
    classes: tuple[str, ...]
    of: Literal["words", "text"] = "words"

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        known = batch.tokens.labels[self.label].clamp(min=-1) + 1
        if self.of == "words":
            left = (batch.actions == Action.KEPT) | (batch.actions == Action.SCORED_AS_IS)
            known = known.where(left, 0)
        ids = gather_origin(known, inputs.origin).where(inputs.valid, 0)
        label_ids = {**inputs.label_ids, self.label: LabelIds(ids, self.classes)}
        return replace(batch, inputs=replace(inputs, label_ids=label_ids))


@dataclass(frozen=True)
class SeeTask(See):
    """The task of a batch, as a label of every position (task embedding of ERNIE 2.0, arXiv:1907.12412, sec. 4)."""

    task: str
    tasks: tuple[str, ...]

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        ids = torch.full_like(inputs.ids, self.tasks.index(self.task) + 1).where(inputs.valid, 0)
        return replace(batch, inputs=replace(inputs, label_ids={**inputs.label_ids, "task": LabelIds(ids, self.tasks)}))
