"""Arrange the first sentence or the first document of a row."""

from dataclasses import dataclass
from typing import Literal

from playground.batch import Batch, arange_rows, begin
from playground.objectives.arrange.code import crop
from playground.objectives.stage import Arrange


@dataclass(frozen=True)
class ArrangeFirst(Arrange):
    """The first sentence of each row, or what stands before its first [SEP], which ends a document.

    Rows begin anywhere in a corpus, so the beginning of a sentence or document may be missing.
    """

    unit: Literal["sentence", "document"]

    def build(self, batch: Batch) -> Batch:
        tokens = batch.tokens
        if not tokens.ids.shape[1]:
            return batch
        beyond = tokens.sentence_ids != tokens.sentence_ids[:, :1]
        if self.unit == "document":
            beyond = tokens.ids == tokens.specials.sep
        position = arange_rows(tokens.ids)
        end = position.masked_fill(~beyond, position.shape[1]).amin(1, keepdim=True).minimum(tokens.lengths[:, None])
        return begin(crop(tokens, position[:, :1], end))
