"""Choose neighbours together."""

from dataclasses import dataclass, replace

from playground.batch import Batch, Spans
from playground.objectives.choose.spans import inside
from playground.objectives.ops.marked_spans import marked_spans
from playground.objectives.stage import Choose


@dataclass(frozen=True)
class MergeAdjacent(Choose):
    """Chosen tokens that are neighbours become one span (T5's i.i.d. corruption, arXiv:1910.10683, sec. 3.3.2).

    There are only so many numbered sentinels; spans beyond these are no longer chosen.
    """

    def build(self, batch: Batch) -> Batch:
        found, most = marked_spans(batch, batch.selected), len(batch.tokens.specials.sentinels) or None
        spans = Spans(found.start[:, :most], found.length.where(found.length > 0, -1)[:, :most])
        return replace(batch, spans=spans, selected=inside(spans, batch.selected.shape[1]))
