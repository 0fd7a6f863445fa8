"""Segment-level recurrence: the next step also attends to the states of this one (arXiv:1901.02860, sec. 3.2)."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from playground.batch import AttentionMask, Batch, Tokens
from playground.errors import UserError
from playground.zoo.entry import Entry

Mems = tuple[Tensor, ...]
"""The states that each layer read, `[b, m, d]`, without gradient; empty where a text begins."""


def check(entry: Entry, batches: Sequence[Batch]) -> None:
    """Refuse a memory of rows whose lengths differ, or of states that saw what the rows of the next step ask."""
    for batch in batches if entry.model.mem_len else ():
        if half := batch.tokens.reuse_len:
            _check_blind(entry, batch.inputs.attn_mask, half)
        elif batch.inputs.padded:
            raise UserError(
                f"mem_len is {entry.model.mem_len}, but the rows of {entry.objective.name} differ in length, so that "
                "they do not continue each other; set mem_len to 0."
            )


def _check_blind(entry: Entry, mask: AttentionMask, half: int) -> None:
    """Refuse a mask under which the first half of a row attends to the rest of it."""
    if any(bool(mask.layer(number).dense()[:, :half, half:].any()) for number in range(2)):
        raise UserError(
            f"mem_len is {entry.model.mem_len}, but under the mask of {entry.objective.name} the half of a row that is "
            "remembered attends to the other half, which the next rows ask for; set mem_len to 0."
        )


def with_mems(batch: Batch, mems: Mems) -> Batch:
    """The batch with the memory that its rows attend to."""
    return replace(batch, inputs=replace(batch.inputs, mems=mems))


def fits(batch: Batch, mems: Mems) -> bool:
    """Whether the rows of a batch continue those of a memory."""
    before = batch.tokens.previous_ids
    return bool(mems) and before is not None and len(mems[0]) == len(before)


def extended(mems: Mems, states: Sequence[Tensor], mem_len: int, reuse_len: int = 0) -> Mems:
    """The memory of the next step: the last `mem_len` states of those that were kept and of the new ones.

    Of the new ones only the first `reuse_len` are kept, where that is above 0 (XLNet's released code).
    """
    states = [level[:, : reuse_len or None] for level in states]
    together = (torch.cat(level, dim=1) for level in zip(mems, states, strict=True)) if mems else states
    return tuple(level[:, -mem_len:].detach() for level in together)


def stretches(tokens: Tokens) -> int:
    """How many stretches of text are read side by side in rows that continue each other; 0 where they do not."""
    return 0 if tokens.previous_ids is None else int((tokens.previous_ids < 0).sum())
