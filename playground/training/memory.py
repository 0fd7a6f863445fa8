"""Memory: how much a run will need, how much is free, and what to do when it was not enough."""

import re
from collections.abc import Iterator
from contextlib import suppress
from ctypes import CDLL
from dataclasses import replace
from math import ceil
from pathlib import Path

import torch

from playground.errors import UserError
from playground.objectives.steps import has_beginning
from playground.training.accumulation import OutOfMemory
from playground.training.data import Prefetcher
from playground.training.events import Incident
from playground.training.train_state import TrainState
from playground.zoo.entry import Entry

PROCESS = 400 << 20
"""Bytes of a worker process without a model: Python, torch and its libraries (measured: 330 to 390 MiB).

On a GPU about as many, of its own memory: the context of CUDA and its kernels.
"""

FLOATS = 4
"""Bytes of a number; half precision keeps its weights in float32 too."""

SYSTEM = Path("/")
"""The root of the system's files."""


def free_cached(device: torch.device) -> None:
    """Return freed memory to the device and the system, so that a large block may find room."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # another system, or another allocator
        CDLL("libc.so.6").malloc_trim(0)


def estimate(entry: Entry, words: int) -> int:
    """Bytes that training needs at once with a vocabulary of so many words, a little too many.

    They are for the weights with gradients and moments, for the activations of a step, and for the scores.
    """
    shape, recipe = entry.model, entry.recipe
    layers = shape.layers + shape.decoder_layers * 2
    learned = shape.max_position_embeddings * (1 + shape.decoder_positions) if shape.positions == "learned" else 0
    learned += shape.max_position_embeddings * (shape.second_positions != "none")
    matrices = ceil(layers * (4 + 2 * shape.mlp_ratio) * shape.width**2) + (words + learned) * (shape.width + 1)
    rows = ceil(recipe.batch_size / recipe.grad_accum_steps)
    positions = rows * recipe.seq_len * (2 if shape.two_streams or shape.rtd_head or shape.backward else 1)
    activations = ceil(positions * layers * (12 + 2 * shape.mlp_ratio) * shape.width)
    attention = 2 * rows * shape.heads * recipe.seq_len**2 * layers
    scores = rows * recipe.seq_len * words * 3
    return FLOATS * (4 * matrices + activations + attention + scores)


def available(device: torch.device, system: Path = SYSTEM) -> int | None:
    """Free bytes of a GPU, else of the machine or the container, whichever has less; None where that is unknown."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    line = re.search(r"^MemAvailable:\s*(\d+)", _read(system / "proc/meminfo"), re.MULTILINE)
    machine = int(line[1]) << 10 if line else None
    return min((free for free in (machine, container_free(system)) if free is not None), default=None)


def workers_that_fit(need: int, workers: int, free: int | None) -> tuple[int, str]:
    """How many of the worker processes, each of which needs so many bytes, fit into the free memory.

    At least one; with a sentence where they are fewer.
    """
    fit = workers if free is None else max(1, min(workers, int(0.8 * free) // (PROCESS + need)))
    if free is None or fit == workers:
        return fit, ""
    return fit, (
        f"{workers} workers would not fit: each needs about {format_bytes(PROCESS + need)} and {format_bytes(free)} "
        f"are free, so {fit} work{'s' * (fit == 1)}."
    )


def smaller(learner: TrainState, short: OutOfMemory) -> Incident:
    """Halve the parts of a batch, which leaves the gradient the same; refuse where nothing smaller is possible."""
    recipe, asked = learner.entry.recipe, _asked(short)
    rows = ceil(recipe.batch_size / recipe.grad_accum_steps)
    if rows <= 1:
        raise UserError(
            f"Not even one row of {recipe.seq_len} tokens fits into the memory{asked}; set seq_len to "
            f"{max(4, recipe.seq_len // 2)} or make the model smaller (width, layers)."
        )
    if not learner.splits:
        raise UserError(
            f"A step on {recipe.batch_size} rows does not fit into the memory{asked}, and this run cannot cut its "
            f"batch; set batch_size to {max(1, recipe.batch_size // 2)}."
        )
    parts = min(recipe.batch_size, 2 * recipe.grad_accum_steps)
    smaller_rows = ceil(recipe.batch_size / parts)
    learner.entry = replace(learner.entry, recipe=replace(recipe, grad_accum_steps=parts))
    sentence = (
        f"A step on {rows} rows of {recipe.seq_len} tokens did not fit into the memory{asked}; it continues with every "
        f"batch in {parts} parts of {smaller_rows} row{'s' * (smaller_rows != 1)} (grad_accum_steps "
        f"{recipe.grad_accum_steps} → {parts}): the same gradient, a little slower."
    )
    return Incident(learner.step, "memory", sentence, {"grad_accum_steps": parts})


def fewer(blocks: Prefetcher, short: OutOfMemory) -> Incident:
    """Draw a quarter as many steps at once; refuse where it is one already."""
    opens, batch = blocks.steps == 1 and has_beginning(blocks.learner.objective), blocks.feed.batch_size
    steps = blocks.ahead if opens else blocks.steps
    if steps == 1:
        raise UserError(
            f"What {batch} rows mask and predict does not fit into the memory{_asked(short)}; set batch_size to "
            f"{max(1, batch // 2)}."
        )
    fewer_steps = max(1, steps // 4)
    blocks.begin_anew(fewer_steps)
    sentence = (
        f"What {steps} steps of {batch} rows mask and predict did not fit into the memory{_asked(short)}; from step "
        f"{blocks.learner.step + 1} on it is drawn for {fewer_steps} step{'s' * (fewer_steps != 1)} at once, "
        f"{'which changes no draw' if opens else 'so by other draws than with more memory'}. "
        f"A batch of {max(1, batch // 2)} needs half."
    )
    return Incident(blocks.learner.step, "memory", sentence, {"batch_size": max(1, batch // 2)})


def _asked(short: OutOfMemory) -> str:
    return f" ({format_bytes(short.asked)} more were asked for)" if short.asked else ""


def format_bytes(number: int) -> str:
    """A number of bytes in GB or MB."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{max(1, round(number / 1e6))} MB"


# the container (control group) of this process


def container_limit(system: Path = SYSTEM) -> int | None:
    """Bytes that the processes of the container may take together; None without a limit."""
    return min((most for _, most in _limits(system)), default=None)


def container_free(system: Path = SYSTEM) -> int | None:
    """Free bytes of the container; the idle file cache counts as free."""
    return min((max(0, most - _used(group)) for group, most in _limits(system)), default=None)


def _limits(system: Path) -> Iterator[tuple[Path, int]]:
    """Every control group (cgroup v2) around this process that has a limit."""
    own = re.search(r"^0::/(.*)$", _read(system / "proc/self/cgroup"), re.MULTILINE)
    inner = system / "sys/fs/cgroup" / (own[1] if own else "")
    for group in (inner, *inner.parents):  # a container often sees its own group as the outermost
        text = _read(group / "memory.max").strip()
        if text.isdigit():
            yield group, int(text)


def _used(group: Path) -> int:
    cache = re.search(r"^inactive_file (\d+)$", _read(group / "memory.stat"), re.MULTILINE)
    return int(_read(group / "memory.current") or 0) - int(cache[1] if cache else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
