"""The gradient of a batch: at once, in parts that need less memory, or shared between processes; always the same one.

A question's loss is the mean over its scored answers, so a part counts by its share of the answers of the whole batch.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from playground.batch import Batch
from playground.errors import Refusal
from playground.models import LanguageModel, total_loss
from playground.models.losses import Answer
from playground.slicing import batches, trimmed

Graded = tuple[Tensor, dict[str, Tensor]]
"""The weighted sum that is trained, and each question's mean loss."""

Shares = Mapping[str, float | Tensor]
"""By what each question of a part counts; nothing for a whole batch."""

Part = Literal["drawing", "gradient", "optimiser", "evaluation"]
"""What is being done: drawing the examples of a step, its two passes, moving the weights, reading held-out text."""


class OutOfMemory(Refusal):
    """A part of a step did not fit; `asked` are the bytes of the allocation that failed, 0 where unknown."""

    def __init__(self, asked: int, during: Part = "gradient") -> None:
        super().__init__(
            "A step does not fit into the memory; set batch_size or seq_len to half, or make the model smaller."
        )
        self.asked: int = asked
        self.during: Part = during


@contextmanager
def room_for(during: Part) -> Iterator[None]:
    """Want of memory is told from all other errors."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        asked = bytes_asked(error)
        if asked is None:
            raise
        raise OutOfMemory(asked, during) from None


class Gradient(Protocol):
    """Fills the gradients of a model with those of a whole batch and gives its losses."""

    def __call__(self, model: LanguageModel, example: Batch, accumulate: int, precision: str) -> Graded: ...


def losses(model: LanguageModel, part: Batch, precision: str, shares: Shares) -> Graded:
    """A part's loss and its terms, through which the gradient goes back."""
    return total_loss(answers(model, part, precision), shares, consume=True)


@dataclass(frozen=True)
class SingleProcess:
    """One process has the whole batch; its `losses` may be compiled ones."""

    losses: Callable[[LanguageModel, Batch, str, Shares], Graded] = losses

    def __call__(self, model: LanguageModel, example: Batch, accumulate: int, precision: str) -> Graded:
        parts = in_parts(example, accumulate)
        found: list[Graded] = []
        for part, shares in zip(parts, shares_of(parts, example), strict=True):
            loss, terms = self.losses(model, part, precision, shares)
            loss.backward()
            found.append((loss.detach(), {name: term.detach() for name, term in terms.items()}))
        return summed(found)


SINGLE_PROCESS = SingleProcess()


def in_parts(example: Batch, number: int) -> list[Batch]:
    """A batch cut by rows into so many parts of nearly one size, at most one for each row."""
    rows = len(example.inputs.ids)
    if number <= 1 or rows <= 1:
        return [example]
    if any(q.head == "match" for part in example.with_auxiliary for q in part.questions):
        raise Refusal(
            "grad_accum_steps is above 1, but this objective compares the rows of a batch; set grad_accum_steps to 1."
        )
    return [trimmed(part) for part in batches(example, -(-rows // number))]


def shares_of(parts: Sequence[Batch], whole: Batch) -> list[dict[str, float]]:
    """For each part, what share of the scored answers of each question it holds; nothing for the whole batch."""
    if len(parts) == 1:
        return [{}]
    total = _counts(whole)
    return [{name: count / max(1, total[name]) for name, count in _counts(part).items()} for part in parts]


def _counts(example: Batch) -> dict[str, int]:
    return {q.name: len(q.loss_positions.rows) for part in example.with_auxiliary for q in part.questions}


def answers(model: LanguageModel, example: Batch, precision: str) -> tuple[Answer, ...]:
    """The model's scores; with "bfloat16" its products have half the bits, and the losses are still taken in full."""
    if precision == "float32":
        return model(example)
    with torch.autocast(example.inputs.ids.device.type, torch.bfloat16):
        found = model(example)
    return tuple(replace(a, scores=a.scores.float()) for a in found)


def summed(parts: Sequence[Graded]) -> Graded:
    """The losses of the whole batch from those of its parts."""
    if len(parts) == 1:
        return parts[0]
    losses, terms = zip(*parts, strict=True)
    return torch.stack(losses).sum(), {name: torch.stack([t[name] for t in terms]).sum() for name in terms[0]}


def clipped(parameters: Sequence[nn.Parameter], longest: float) -> None:
    """A gradient longer than `longest` is shortened to it; 0 leaves every gradient."""
    if longest:
        nn.utils.clip_grad_norm_(parameters, longest)


def bytes_asked(error: BaseException) -> int | None:
    """How many bytes an allocation wanted that failed, 0 where it does not say; None for any other error."""
    text = str(error)
    kinds = (MemoryError, torch.cuda.OutOfMemoryError)
    said = "can't allocate memory|not enough memory|out of memory|could not create a primitive"  # the last is oneDNN's
    if not isinstance(error, kinds) and not re.search(said, text):
        return None
    plain = re.search(r"allocate (\d+) bytes", text)
    if plain:
        return int(plain[1])
    scaled = re.search(r"allocate ([\d.]+) (KiB|MiB|GiB)", text)
    return int(float(scaled[1]) * (1 << {"KiB": 10, "MiB": 20, "GiB": 30}[scaled[2]])) if scaled else 0
