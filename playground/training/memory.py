"""Memory: how much a run will want, how much there is, and what to do when it was not enough."""

from ctypes import CDLL
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import torch

from playground.errors import Refusal
from playground.training.accumulation import OutOfMemory
from playground.training.events import Incident
from playground.training.prefetch import Prefetcher
from playground.training.system import cgroup
from playground.training.train_state import TrainState
from playground.zoo.entry import Entry
from playground.zoo.recipe import Recipe

PROCESS = 400 << 20
"""Bytes of a worker process before it holds any model: Python, torch and its libraries (seen: 330 to 390 MiB)."""

FLOATS = 4
"""Bytes of a number; half precision keeps its weights whole too."""


HELD, TRIMMED = -3, -1
"""The numbers of glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD (mallopt(3))."""


def hold() -> bool:
    """Memory that was freed stays with this process, for one that trains and then ends; whether that could be said.

    Every step frees and asks for the same large pieces. By itself glibc gives them back, and the system clears every
    page anew: 2 to 6 % of a step. The peak stays what it was.
    """
    try:
        said = [CDLL("libc.so.6").mallopt(*each) for each in ((HELD, 1 << 30), (TRIMMED, (1 << 31) - 1))]
    except (OSError, AttributeError):  # another system, or another allocator
        return False
    return all(said)


def give_back(device: torch.device) -> bool:
    """What was freed and lies in pieces goes back to where it came from; whether there was any, as far as one knows.

    A large piece may then find room where only small ones were free.
    """
    if device.type == "cuda":
        torch.cuda.empty_cache()
    try:
        return bool(CDLL("libc.so.6").malloc_trim(0))
    except (OSError, AttributeError):  # another system, or another allocator
        return False


@dataclass(frozen=True)
class Need:
    """Bytes that training wants at once: weights with gradients and moments, what a step keeps, the scores."""

    weights: int
    step: int
    scores: int

    @property
    def total(self) -> int:
        return self.weights + self.step + self.scores


def estimate(entry: Entry, words: int) -> Need:
    """From the numbers of an entry and its vocabulary, before anything is made; meant to be a little too high."""
    shape, recipe = entry.model, entry.recipe
    layers = shape.layers + shape.decoder_layers * 2
    matrices = layers * (4 + 2 * shape.mlp_ratio) * shape.width**2 + words * (shape.width + 1)
    rows = ceil(recipe.batch_size / recipe.grad_accum_steps)
    positions = rows * recipe.seq_len * (2 if shape.two_streams or shape.rtd_head or shape.backward else 1)
    kept = positions * layers * (12 + 2 * shape.mlp_ratio) * shape.width
    maps = 2 * rows * shape.heads * recipe.seq_len**2 * layers
    graded = rows * recipe.seq_len * words * 3
    return Need(4 * FLOATS * matrices, FLOATS * (kept + maps), FLOATS * graded)


def available(device: torch.device, system: Path = cgroup.SYSTEM) -> int | None:
    """Bytes that are free on a GPU, else in the machine or in the container, whichever has less; None if nobody says.

    The files of the `system` say it.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    known = [free for free in (_free_in_machine(system), cgroup.free(system)) if free is not None]
    return min(known, default=None)


def _free_in_machine(system: Path) -> int | None:
    try:
        lines = (system / "proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None


def workers_that_fit(entry: Entry, words: int, wanted: int, free: int | None) -> int:
    """So many of the wanted worker processes as have room beside each other, at least one."""
    if free is None:
        return wanted
    return max(1, min(wanted, int(0.8 * free) // (PROCESS + estimate(entry, words).total)))


def smaller(learner: TrainState, short: OutOfMemory) -> Incident:
    """Go on with parts half as large, which give the same gradient; refuse where nothing smaller is left."""
    recipe, asked = learner.entry.recipe, _asked(short)
    rows = ceil(recipe.batch_size / recipe.grad_accum_steps)
    if rows <= 1:
        raise Refusal(
            f"Not even one row of {recipe.seq_len} tokens fits into the memory{asked}; set seq_len to "
            f"{max(4, recipe.seq_len // 2)} or make the model smaller (width, layers)."
        )
    if not learner.splits:
        raise Refusal(
            f"A step on {recipe.batch_size} rows does not fit into the memory{asked}, and this run cannot cut its "
            f"batch; set batch_size to {max(1, recipe.batch_size // 2)}."
        )
    parts = _halved(recipe)
    learner.entry = replace(learner.entry, recipe=replace(recipe, grad_accum_steps=parts))
    sentence = (
        f"A step on {rows} rows of {recipe.seq_len} tokens did not fit into the memory{asked}; it goes on with every "
        f"batch in {parts} parts of {_rows(ceil(recipe.batch_size / parts))} "
        f"(grad_accum_steps {recipe.grad_accum_steps} → {parts}): the same gradient, a little slower."
    )
    return Incident(learner.step, "memory", sentence, {"grad_accum_steps": parts})


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def fewer(blocks: Prefetcher, short: OutOfMemory) -> Incident:
    """Go on with a quarter of the steps drawn at once; refuse where it is one already."""
    opens, batch = blocks.steps == 1 and blocks.learner.objective.opens, blocks.feed.batch_size
    steps = blocks.ahead if opens else blocks.steps
    if steps == 1:
        raise Refusal(
            f"What {batch} rows hide and ask does not fit into the memory{_asked(short)}; set batch_size to "
            f"{max(1, batch // 2)}."
        )
    left = max(1, steps // 4)
    blocks.begin_anew(left)
    sentence = (
        f"What {steps} steps of {batch} rows hide and ask did not fit into the memory{_asked(short)}; from step "
        f"{blocks.learner.step + 1} on it is drawn for {_steps(left)} at once, "
        f"{'which changes no draw' if opens else 'so by other draws than with more memory'}. "
        f"A batch of {max(1, batch // 2)} needs half."
    )
    return Incident(blocks.learner.step, "memory", sentence, {"batch_size": max(1, batch // 2)})


def _asked(short: OutOfMemory) -> str:
    return f" ({said(short.asked)} more were asked for)" if short.asked else ""


def _halved(recipe: Recipe) -> int:
    return min(recipe.batch_size, 2 * recipe.grad_accum_steps)


def said(number: int) -> str:
    """Bytes as a person says them."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{max(1, round(number / 1e6))} MB"
