"""Checkpoints written beside training: the numbers are copied at once, the file follows in a thread of its own."""

import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from playground.training import checkpoint
from playground.training.checkpoint import Packed
from playground.training.events import Checkpointed

KEPT = 20
"""Earlier checkpoints of one run that stay on the disk; with more, every second one is let go."""


class Writer:
    """Writes one checkpoint at a time; what goes wrong in its thread is raised by `done`."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "checkpoint")
        self._step, self._writing = 0, None

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True)

    def begin(self, folder: Path, packed: Packed, step: int, stays: bool) -> None:
        """Copy the tensors and begin to write; a checkpoint that `stays` can be forked from later."""
        tensors, about = packed
        copied = {name: value.detach().clone() for name, value in tensors.items()}
        self._step = step
        self._writing: Future[Path] | None = self._pool.submit(_write, folder, (copied, about), step, stays)

    def done(self) -> Iterator[Checkpointed]:
        """Wait for the checkpoint that is being written, if there is one."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            yield Checkpointed(self._step, str(writing.result()))


def _write(folder: Path, packed: Packed, step: int, stays: bool) -> Path:
    path = checkpoint.write_whole(folder / "checkpoint.safetensors", *packed)
    if stays:
        _keep(path, folder / f"step-{step}.safetensors")
        _thin(folder)
    return path


def _keep(path: Path, name: Path) -> None:
    """The same file under a second name: the next checkpoint replaces the first name, never the content."""
    name.unlink(missing_ok=True)
    try:
        os.link(path, name)
    except OSError:  # some disks know no second names
        shutil.copyfile(path, name)


def kept(folder: Path) -> dict[int, Path]:
    """The checkpoints of a run that stayed, by step."""
    there = folder.glob("step-*.safetensors") if os.path.isdir(folder) else ()
    found = {re.fullmatch(r"step-([0-9]+)\.safetensors", p.name): p for p in there}
    return dict(sorted((int(match[1]), path) for match, path in found.items() if match))


def _thin(folder: Path) -> None:
    there = list(kept(folder).values())
    if len(there) > KEPT:
        for path in there[::2]:
            path.unlink()
