"""One run in several processes under torchrun: each takes a part of every batch, all take the same step.

Every process draws the same corruption of the whole batch, so the losses are those of one process up to rounding.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from playground.batch import Batch
from playground.errors import UserError
from playground.models import LanguageModel
from playground.training.accumulation import BatchLoss, in_parts, losses, shares_of


def size() -> int:
    """How many processes train together; 1 without torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def first() -> bool:
    """Whether this process prints and writes for all."""
    return size() == 1 or dist.get_rank() == 0


@contextmanager
def group(device: str = "auto") -> Iterator[None]:
    """Join the processes that torchrun started, if it did, and leave them at the end."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    cuda = device != "cpu" and torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def seconds_of_first(seconds: float, device: torch.device) -> float:
    """The clock of the first process, so that all end in the same step."""
    if size() == 1:
        return seconds
    clock = torch.tensor([seconds], dtype=torch.float32 if device.type == "mps" else torch.float64, device=device)
    dist.broadcast(clock, 0)
    return float(clock)


class LossOf(nn.Module):
    """The model's loss on a part of a batch as one forward call, for DistributedDataParallel."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, part: Batch, shares: dict[str, float], precision: str) -> BatchLoss:
        return losses(self.model, part, precision, shares)


@dataclass
class DistributedDataParallelGradient:
    """The gradient of a batch whose rows are shared between processes."""

    wrapped: dict[int, DistributedDataParallel] = field(default_factory=dict)

    def __call__(self, model: LanguageModel, batch: Batch, accumulate: int, precision: str) -> BatchLoss:
        if id(model) not in self.wrapped:
            self.wrapped = {id(model): DistributedDataParallel(LossOf(model), find_unused_parameters=True)}
        wrapped, number = self.wrapped[id(model)], size()
        parts = in_parts(batch, number * accumulate)
        shares = shares_of(parts, batch)
        if len(parts) % number:
            raise UserError(
                f"A batch of {len(batch.tokens.ids)} rows does not go into {number} processes with {accumulate} "
                "parts each; choose a batch that is a multiple."
            )
        mine = list(range(dist.get_rank(), len(parts), number))
        totals = []
        for k in mine:
            with nullcontext() if k == mine[-1] else wrapped.no_sync():  # gradients are exchanged after the last part
                loss, terms, _ = wrapped(parts[k], shares[k], precision)
                (loss * number).backward()  # the wrapper takes the mean over the processes, we want the sum
            totals.append(torch.stack([loss.detach(), *(term.detach() for term in terms.values())]))
        total = torch.stack(totals).sum(0)
        dist.all_reduce(total)
        return BatchLoss(total[0], dict(zip(terms, total[1:], strict=True)))
