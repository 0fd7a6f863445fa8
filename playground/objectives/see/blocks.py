"""The attention mask of block diffusion."""

from dataclasses import dataclass

from playground.batch import Batch, arange_rows, gather_origin
from playground.objectives.see.painted import in_cells
from playground.objectives.see.single_stack import with_mask
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeBlocks(See):
    """A changed word sees its own block and the clean words of earlier blocks (BD3-LM, arXiv:2503.09573, sec. 4.1).

    A clean word sees the clean words of its own block and of earlier ones.
    """

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        assert batch.block is not None, "a stage that draws blocks must come before"
        block = gather_origin(batch.block, inputs.origin)
        clean = arange_rows(inputs.ids) >= inputs.valid.sum(1, keepdim=True) // 2
        query, key = block[:, :, None], block[:, None, :]
        from_clean, to_clean = clean[:, :, None], clean[:, None, :]
        own = ~from_clean & ~to_clean & (query == key)
        before = to_clean & (key < query + from_clean.long())
        real = inputs.valid[:, :, None] & inputs.valid[:, None, :]
        return with_mask(batch, in_cells((own | before) & real))
