"""How much room this place gives the app; where it is little, a visit begins smaller and the page says so."""

import os
from pathlib import Path

from playground.devices import doubt
from widgets.training import TrainStore

LITTLE = 3 << 30
"""Bytes below which one more worker process may cost the whole session; Binder gives 1 to 2 GB."""

SHORT = 300
"""Steps with which a run begins where there is little room: enough to see it learn on a shared core."""

CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def limit() -> int | None:
    """Bytes that this session may take: what JupyterHub says, else the container; None where nobody says."""
    said = [os.environ.get("MEM_LIMIT", ""), *map(_read, CONTROL_GROUPS)]
    known = [int(text) for text in said if text.isdigit() and int(text) < 1 << 50]  # more stands for no limit
    return min(known, default=None)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def little() -> bool:
    """Whether the system would end this session where a larger machine would go on."""
    room = limit()
    return room is not None and room < LITTLE


def fit(store: TrainStore) -> None:
    """Begin a visit with what fits: shorter runs, and one worker process beside the app."""
    if little():
        store.param.update(steps=SHORT, workers=1)


def told() -> list[str]:
    """What a person should know of this machine, in sentences."""
    room = limit()
    small = (
        f"This session has {room / 1e9:.1f} GB of memory, so it begins small: runs of {SHORT} steps, and further seeds "
        "train one after the other."
        if little() and room is not None
        else ""
    )
    return [said for said in (small, doubt()) if said]
