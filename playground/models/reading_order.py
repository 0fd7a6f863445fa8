"""The order in which a recurrent network reads a batch, as an attention mask allows it.

Recurrence obeys an attention mask only where that opens all that stands to the left, to the right, or both, within
stretches of the text. Such a mask is obeyed exactly; any other one is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress, islice, pairwise

import torch
from torch import Tensor
from torch.nn.functional import pad

from playground.batch import AttentionMask, Batch, Stream, Stretches, arange
from playground.errors import UserError

UNREADABLE = (
    "A recurrent network reads everything to the left, everything to the right, or both; this attention mask allows "
    "something else. Set kind to transformer, or choose another objective."
)


@dataclass(frozen=True)
class ReadingOrder:
    """The stretches of the rows of a batch that are read each for itself, and in which directions.

    `rows` `[r, t]` are the positions of each stretch, counted through the batch, the last one repeated up to the
    longest; `turned` `[r, t]` is the order of each from its end; `position` `[b, n]` is where each one is in `rows`.
    """

    rows: Tensor
    turned: Tensor
    position: Tensor
    leftwards: bool
    rightwards: bool

    @classmethod
    def of(cls, mask: AttentionMask, rows: int, own: AttentionMask | None = None) -> "ReadingOrder":
        """The order that a mask allows in so many rows, with a position's `own` token if the mask leaves that out.

        Refused where it allows none, or layers differ. Synchronises with the GPU unless the stretches are known.
        """
        stretches = mask.stretches or _stretches_by_form(mask, rows) or find_stretches([(mask, rows, own)])[0]
        if stretches is None:
            raise UserError(UNREADABLE)
        return cls.of_stretches(stretches)

    @classmethod
    def of_stretches(cls, stretches: Stretches) -> "ReadingOrder":
        """The order in which so many stretches of such lengths are read; all else follows on their device."""
        begins, starts = stretches.begins, stretches.starts
        longest = max(end - start for row in starts for start, end in pairwise((*row, begins.shape[1])))
        number = begins.flatten().cumsum(0) - 1
        counts = number.new_zeros(sum(map(len, starts))).scatter_add_(0, number, torch.ones_like(number))
        first = counts.cumsum(0) - counts
        step, ends = torch.arange(longest, device=number.device), counts[:, None] - 1
        position = number * longest + torch.arange(len(number), device=number.device) - first[number]
        turned = torch.where(step <= ends, ends - step, step)
        sides = (longest > 1 and side for side in (stretches.leftwards, stretches.rightwards))
        return cls(first[:, None] + torch.minimum(step, ends), turned, position.unflatten(0, begins.shape), *sides)

    def split(self, x: Tensor) -> Tensor:
        """The states `[b, n, d]` of a stream by stretches, `[r, t, d]`."""
        return x.flatten(0, 1)[self.rows]

    def join(self, x: Tensor) -> Tensor:
        """The states `[r, t, d]` of the stretches as those of the stream, `[b, n, d]`."""
        return x.flatten(0, 1)[self.position]

    def pool(self, x: Tensor) -> Tensor:
        """The states `[r, t, d]` with the maximum over each stretch in the place of its first one."""
        repeated = pad(self.rows.diff(dim=1) == 0, (1, 0))  # beyond the end of a stretch
        most = x.masked_fill(repeated[..., None], float("-inf")).amax(1, keepdim=True)
        return torch.cat([most, x[:, 1:]], dim=1)

    def turn(self, x: Tensor) -> Tensor:
        """Each stretch `[r, t, d]` from its end to its beginning, and back."""
        return x.gather(1, self.turned[..., None].expand(-1, -1, x.shape[-1]))


Target = tuple[AttentionMask, int, AttentionMask | None]
"""A mask, its number of rows, and the mask of a position's own token where there are two streams."""


def find_stretches(targets: Sequence[Target]) -> list[Stretches | None]:
    """The stretches of several masks, None where recurrence cannot obey one; synchronises with the GPU once for all."""
    if not targets:
        return []
    begins, facts = zip(*(_stretches_in(*target) for target in targets), strict=True)
    values = iter(torch.cat([*facts, *(each.flatten() for each in begins)]).tolist())
    sides = [tuple(islice(values, 5)) for _ in targets]
    made: list[Stretches | None] = []
    for marks, (left, right, left_differs, right_differs, differs) in zip(begins, sides, strict=True):
        rows, width = marks.shape
        starts = tuple(tuple(compress(range(width), islice(values, width))) for _ in range(rows))
        refused = (left and left_differs) or (right and right_differs) or differs
        made.append(None if refused else Stretches(marks, starts, left, right))
    return made


def _stretches_in(mask: AttentionMask, rows: int, own: AttentionMask | None) -> tuple[Tensor, Tensor]:
    """Where the stretches of a mask begin `[b, n]`, and five facts.

    Whether it opens anything to the left and to the right; whether that is not the whole stretch, to the left and to
    the right; whether it cannot be obeyed for another reason.
    """
    cells = mask.dense().expand(rows, -1, -1)
    below, above, itself = _triangles(cells.shape[-1], cells.device)
    differs = cells.new_full((), mask.odd_layers is not None)
    if own is not None:
        alone = own.dense().expand(rows, -1, -1)
        differs = differs | (alone & ~itself).any() | (cells & itself).any()
        cells = cells | (alone & itself)
    real = cells.diagonal(dim1=1, dim2=2)
    cells = cells & real[:, :, None]
    near = cells.diagonal(-1, 1, 2) | cells.diagonal(1, 1, 2)
    begins = pad(~near, (1, 0), value=True)
    stretch = begins.flatten().cumsum(0).unflatten(0, real.shape)
    same = (stretch[:, :, None] == stretch[:, None, :]) & real[:, :, None] & real[:, None, :]
    wrong = cells ^ same
    facts = [(values & side).any() for values in (cells, wrong) for side in (below, above)]
    return begins, torch.stack([*facts, differs])


@lru_cache(maxsize=16)
def _triangles(width: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The cells `[n, n]` below the diagonal, above it and on it; made once, so read-only."""
    everything = torch.ones((width, width), dtype=torch.bool, device=device)
    below, above = everything.tril(-1), everything.triu(1)
    return below, above, ~(below | above)


def _stretches_by_form(mask: AttentionMask, rows: int) -> Stretches | None:
    """Every row is one stretch where the form of a mask says so."""
    if mask.form not in ("full", "causal") or mask.overrides is not None or mask.odd_layers is not None:
        return None
    begins = (arange(mask.key_level.shape[1], mask.key_level.device) == 0).expand(rows, -1)
    return Stretches(begins, ((0,),) * rows, True, mask.form == "full")


def with_stretches(batches: Sequence[Batch]) -> list[Batch]:
    """The same batches with masks whose stretches are known, so that a step on them waits for no device.

    A mask that recurrence cannot obey stays as it is and is refused where it is read.
    """
    parts = [part for batch in batches for part in batch.with_auxiliary]
    asked = {id(target[0]): target for part in parts for target in _read_masks(part)}
    found = find_stretches(list(asked.values()))
    known = {key: replace(q[0], stretches=s) for (key, q), s in zip(asked.items(), found, strict=True)}
    return [_with_masks(batch, known) for batch in batches]


def _read_masks(part: Batch) -> Iterator[Target]:
    """The masks of a part of a batch that a recurrent network reads and whose form does not say how."""
    query, decoder = part.inputs.query_attn_mask, part.decoder
    two = query is not None
    asked = [(query if two else part.inputs.attn_mask, part.inputs, part.inputs.attn_mask if two else None)]
    asked += [] if decoder is None else [(decoder.attn_mask, decoder, None)]
    for mask, stream, own in asked:
        if _stretches_by_form(mask, 1) is None:
            yield mask, len(stream.ids), own


def _with_masks(batch: Batch, known: Mapping[int, AttentionMask]) -> Batch:
    """A batch with other masks, by the identity of its own."""

    def masked(stream: Stream) -> Stream:
        own, query = stream.attn_mask, stream.query_attn_mask
        return replace(stream, attn_mask=known.get(id(own), own), query_attn_mask=known.get(id(query), query))

    return replace(
        batch,
        inputs=masked(batch.inputs),
        decoder=None if batch.decoder is None else masked(batch.decoder),
        auxiliary=tuple(_with_masks(part, known) for part in batch.auxiliary),
    )
