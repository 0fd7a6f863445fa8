"""Checkpoints written while training goes on: tensors are copied at once, the file is written in a thread."""

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
"""Most earlier checkpoints of one run on the disk; with more, every second one is deleted."""


class Writer:
    """Writes one checkpoint at a time; an error in its thread is raised by `done`."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "checkpoint")
        self._step = 0
        self._writing: Future[Path] | None = None

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True)

    def begin(self, folder: Path, packed: Packed, step: int, stays: bool) -> None:
        """Copy the tensors and begin to write; a checkpoint that `stays` can be forked from later."""
        tensors, about = packed
        copied = {name: value.detach().clone() for name, value in tensors.items()}
        self._step, self._writing = step, self._pool.submit(_write, folder, (copied, about), step, stays)

    def done(self) -> Iterator[Checkpointed]:
        """Wait for the checkpoint that is being written, if there is one."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            yield Checkpointed(self._step, str(writing.result()))


def _write(folder: Path, packed: Packed, step: int, stays: bool) -> Path:
    path = checkpoint.write_whole(folder / "checkpoint.safetensors", *packed)
    if stays:
        second = folder / f"step-{step}.safetensors"  # of the same file; the next checkpoint replaces the first name
        second.unlink(missing_ok=True)
        try:
            os.link(path, second)
        except OSError:  # some file systems have no hard links
            shutil.copyfile(path, second)
        paths = list(kept(folder).values())
        for old in paths[::2] if len(paths) > KEPT else ():
            old.unlink()
    return path


def kept(folder: Path) -> dict[int, Path]:
    """The checkpoints of a run that stayed, by step."""
    paths = folder.glob("step-*.safetensors") if os.path.isdir(folder) else ()
    steps = {re.fullmatch(r"step-([0-9]+)\.safetensors", path.name): path for path in paths}
    return dict(sorted((int(match[1]), path) for match, path in steps.items() if match))
