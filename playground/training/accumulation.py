"""The gradient of a batch: at once, in parts that need less memory, or shared between processes; always the same one.

A target's loss is a mean, so a part is weighted by its share of the positions over which the batch's is one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from playground.answers import total_loss
from playground.batch import Batch
from playground.errors import UserError
from playground.models import LanguageModel
from playground.slicing import split_rows, trimmed


class BatchLoss(NamedTuple):
    """The weighted sum that is trained, each target's mean loss, and what the layers read, where that is kept."""

    loss: Tensor
    terms: dict[str, Tensor]
    states: tuple[Tensor, ...] = ()


Shares = Mapping[str, float]
"""The weight of each target in a part of a batch; empty for a whole batch."""

Part = Literal["drawing", "gradient", "optimiser", "evaluation"]
"""What was being done: drawing the batches of a step, its two passes, moving the weights, evaluating."""


class OutOfMemory(UserError):
    """A part of a step did not fit; `asked` are the bytes of the failed allocation, 0 where unknown."""

    def __init__(self, asked: int, during: Part = "gradient") -> None:
        super().__init__("A step does not fit into the memory; halve batch_size or seq_len, or make the model smaller.")
        self.asked: int = asked
        self.during: Part = during


@contextmanager
def room_for(during: Part) -> Iterator[None]:
    """Raise `OutOfMemory` where an allocation fails; other errors stay as they are."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        asked = bytes_asked(error)
        if asked is None:
            raise
        raise OutOfMemory(asked, during) from None


Gradient = Callable[[LanguageModel, Batch, int, str], BatchLoss]
"""Adds the gradients of a whole batch, in at least so many parts and at a precision, and returns its losses."""


def losses(model: LanguageModel, part: Batch, precision: str, shares: Shares) -> BatchLoss:
    """A part's loss and its terms, with their graph; "bfloat16" is the precision of the model's products alone."""
    states: list[Tensor] | None = [] if model.shape.mem_len else None
    if precision == "float32":
        answers = model(part, states=states)
    else:
        with torch.autocast(part.inputs.ids.device.type, torch.bfloat16):
            answers = model(part, states=states)
        answers = tuple(replace(answer, scores=answer.scores.float()) for answer in answers)
    return BatchLoss(*total_loss(answers, shares, consume=True), tuple(state.detach() for state in states or ()))


def single_process(model: LanguageModel, batch: Batch, accumulate: int, precision: str) -> BatchLoss:
    """The gradient in one process."""
    parts = in_parts(batch, accumulate)
    made: list[BatchLoss] = []
    for part, shares in zip(parts, shares_of(parts, batch), strict=True):
        loss, terms, states = losses(model, part, precision, shares)
        loss.backward()
        made.append(BatchLoss(loss.detach(), {name: term.detach() for name, term in terms.items()}, states))
    return summed(made)


def in_parts(batch: Batch, number: int) -> list[Batch]:
    """A batch split by rows into parts of nearly equal size, at most one for each row."""
    rows = len(batch.inputs.ids)
    if number <= 1 or rows <= 1:
        return [batch]
    if any(target.kind.compares_rows for part in batch.with_auxiliary for target in part.targets):
        raise UserError("grad_accum_steps is above 1, but this objective compares the rows of a batch; set it to 1.")
    return [trimmed(part) for part in split_rows(batch, -(-rows // number))]


def shares_of(parts: Sequence[Batch], whole: Batch) -> list[dict[str, float]]:
    """For each part, its share of the positions that each target's loss is a mean over; empty for a whole batch."""
    if len(parts) == 1:
        return [{}]
    total = _counts(whole)
    return [{name: count / max(1, total[name]) for name, count in _counts(part).items()} for part in parts]


def _counts(batch: Batch) -> dict[str, int]:
    return {target.name: target.total for part in batch.with_auxiliary for target in part.targets}


def summed(parts: Sequence[BatchLoss]) -> BatchLoss:
    """The losses of the whole batch from those of its parts."""
    if len(parts) == 1:
        return parts[0]
    losses, terms, states = zip(*parts, strict=True)
    means = {name: torch.stack([t[name] for t in terms]).sum() for name in terms[0]}
    return BatchLoss(torch.stack(losses).sum(), means, tuple(torch.cat(level) for level in zip(*states, strict=True)))


def bytes_asked(error: BaseException) -> int | None:
    """The bytes of a failed allocation, 0 where the error does not name them; None for any other error."""
    text = str(error)
    texts = "can't allocate memory|not enough memory|out of memory|could not create a primitive"  # the last is oneDNN's
    if not isinstance(error, MemoryError | torch.cuda.OutOfMemoryError) and not re.search(texts, text):
        return None
    size = re.search(r"allocate (\d[\d.]*) (bytes|KiB|MiB|GiB)", text)
    return int(float(size[1]) * (1 << {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30}[size[2]])) if size else 0
