"""Rows of different lengths as one batch."""

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.batch import Specials, Tokens


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Rows of different lengths as one tensor."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


def pad_rows(rows: Sequence[Sequence[int]], specials: Specials, vocabulary: tuple[str, ...]) -> Tokens:
    """Rows of ids as one padded batch `[r, t]`; every token is a word of its own, every row one sentence."""
    ids = padded(rows, specials.pad)
    positions = torch.arange(ids.shape[1]).expand(ids.shape)
    lengths = torch.tensor([len(row) for row in rows])
    return Tokens(ids, lengths, positions, torch.zeros_like(ids), specials, vocabulary=vocabulary)
