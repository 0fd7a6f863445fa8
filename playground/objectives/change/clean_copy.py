"""Append the text as it was."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.batch import Batch, arange, full_mask, gather_origin, language_ids_at
from playground.objectives.stage import Change


@dataclass(frozen=True)
class AppendCleanCopy(Change):
    """The text as it was behind the changed one, with the same position numbers (BD3-LM, arXiv:2503.09573, sec. 4.1).

    What is hidden can then be read by those that come later.
    """

    def build(self, batch: Batch) -> Batch:
        inputs, count = batch.inputs, batch.inputs.valid.sum(1, keepdim=True)
        position = arange(2 * inputs.ids.shape[1], count.device).expand(len(count), -1)
        of, valid, clean = position - count * (position >= count), position < 2 * count, position >= count

        def twice(values: Tensor, blank: int = 0) -> Tensor:
            return values.expand_as(inputs.ids).gather(1, of.where(valid, 0)).where(valid, blank)

        origin = twice(inputs.origin, -1)
        ids = twice(inputs.ids, batch.tokens.specials.pad)
        ids = gather_origin(batch.tokens.ids, origin).where(clean & (origin >= 0), ids)
        both = replace(
            inputs,
            ids=ids,
            origin=origin,
            valid=valid,
            segment_ids=twice(inputs.segment_ids),
            position_ids=twice(inputs.position_ids),
            language_ids=language_ids_at(batch.tokens, origin),
            attn_mask=full_mask(valid, inputs.padded),
        )
        return replace(batch, inputs=both)
