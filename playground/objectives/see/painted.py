"""An attention mask that was edited by hand on one text, as a rule for every text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from playground.batch import AttentionMask, Batch, Stream
from playground.errors import UserError
from playground.objectives.stage import See


@dataclass(frozen=True)
class AttentionMaskOverride:
    """The cells opened and closed in one matrix, by key position minus query position (to the left: negative).

    `part` is the part of a mixture that it was edited in, from 1; 0 for all that an objective has.
    """

    kind: ClassVar[str] = "attention_mask"
    matrix: str
    opens: tuple[int, ...] = ()
    closes: tuple[int, ...] = ()
    part: int = 0

    @property
    def words(self) -> str:
        """The same in a sentence."""
        where = WHERE.get(self.matrix, "")
        cells = {f"every position{where} may also see": self.opens, f"no position{where} may see": self.closes}
        part = f"in part {self.part} " if self.part else ""
        return part + " and ".join(f"{who} {_keys(some)}" for who, some in cells.items() if some)


WHERE = {
    "query": " of the query stream",
    "content": " of the content stream",
    "decoder": " of the decoder",
    "cross": " in cross-attention",
}
"""Whose positions a rule is about; the encoder goes without saying."""


def _keys(distances: Iterable[int]) -> str:
    return " and ".join(f"the one {abs(d)} to the {'right' if d > 0 else 'left'}" if d else "itself" for d in distances)


@dataclass(frozen=True)
class OverrideMask(See):
    """What the objective sees, with cells opened and closed by hand in every text, at the distance that was painted."""

    rules: tuple[AttentionMaskOverride, ...]

    def build(self, batch: Batch) -> Batch:
        for rule in self.rules:
            batch = _repaint(batch, rule)
        return batch


def _repaint(batch: Batch, rule: AttentionMaskOverride) -> Batch:
    inputs, decoder = batch.inputs, batch.decoder
    streams = {
        "query": (inputs, inputs, "query_attn_mask"),
        "decoder": (decoder, decoder, "attn_mask"),
        "cross": (decoder, inputs, "cross_attn_mask"),
    }
    queries, keys, field = streams.get(rule.matrix, (inputs, inputs, "attn_mask"))
    mask = getattr(queries, field, None)
    if queries is None or keys is None or mask is None:
        raise UserError(f"This objective has no matrix {rule.matrix!r}, so nothing can be painted in it.")
    made = replace(queries, **{field: in_cells(_cells(mask, rule, queries, keys), mask.odd_layers)})
    return replace(batch, inputs=made) if queries is inputs else replace(batch, decoder=made)


def _cells(mask: AttentionMask, rule: AttentionMaskOverride, queries: Stream, keys: Stream) -> Tensor:
    n, m = queries.ids.shape[1], keys.ids.shape[1]
    away = torch.arange(m)[None, :] - torch.arange(n)[:, None]
    opens, closes = (torch.isin(away, torch.tensor(some)).to(keys.ids.device) for some in (rule.opens, rule.closes))
    real = queries.valid[:, :, None] & keys.valid[:, None, :]
    return (mask.dense() & ~closes) | (opens & real)


def in_cells(cells: Tensor, odd_layers: AttentionMask | None = None) -> AttentionMask:
    """The attention mask that has these cells `[b, n, m]`, and nothing else."""
    rows, n, m = cells.shape
    zeros = torch.zeros((rows, max(n, m)), dtype=torch.long, device=cells.device)
    return AttentionMask(zeros[:, :n], zeros[:, :m], overrides=cells, odd_layers=odd_layers)
