"""Arrange the first of two texts alone; the second is to be predicted."""

from dataclasses import dataclass, replace

from playground.batch import Batch, arange_rows, language_ids_at, stream
from playground.objectives.arrange.pair import ArrangePair
from playground.objectives.stage import Arrange


@dataclass(frozen=True)
class FirstOfPair(Arrange):
    """The first text between [CLS] and [SEP]; the second is chosen, not shown (Qiu et al., arXiv:2003.08271, eq. 4)."""

    def build(self, batch: Batch) -> Batch:
        first = batch.tokens.lengths
        pair = ArrangePair(("next",)).build(batch, first.new_zeros(first.shape))
        inputs, position = pair.inputs, arange_rows(pair.inputs.ids)
        width = int(first.max()) + 2 if len(first) else 0
        real = (position < first[:, None] + 2)[:, :width]
        origin = inputs.origin[:, :width].where(real, -1)
        ids = inputs.ids[:, :width].where(real, pair.tokens.specials.pad)
        shown = stream(ids, origin, real, language=language_ids_at(pair.tokens, origin))
        second = pair.maskable & (arange_rows(pair.tokens.ids) >= first[:, None])
        return replace(pair, inputs=shown, selected=second & (first > 0)[:, None])
