"""How much memory the app may use; where it is little, a visit begins smaller and the page says so."""

import os

from playground.devices import doubt
from playground.training.memory import container_limit
from widgets.state.train.store import TrainStore

LITTLE = 3 << 30  # bytes below which one more worker process may cost the whole session; Binder gives 1 to 2 GB
SHORT = 300  # steps with which a run begins where there is little room: enough to see it learn on a shared core


MOST_VISITS = 40
"""Visits at the same time where memory allows all of them."""

SERVER, VISIT = 700_000_000, 110_000_000
"""Bytes of the server itself once every page was opened, and of a visit that trains (measured with twelve at once)."""


def machine() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def most_visits() -> int:
    """How many visits, each with a training, fit into the memory of the session, the container or the machine."""
    return max(1, min(MOST_VISITS, (_room() - SERVER) // VISIT))


def memory_of_visit() -> int:
    """Bytes that a training of each visit may need where all places are taken."""
    return max(VISIT, (_room() - SERVER) // most_visits())


def _room() -> int:
    return min(limit() or machine(), machine())


def limit() -> int | None:
    """Bytes that this session may take, as JupyterHub or the container says, whichever is less; None: no limit."""
    given = os.environ.get("MEM_LIMIT", "")
    hub = int(given) if given.isdigit() else None
    return min((most for most in (hub, container_limit()) if most is not None), default=None)


def little() -> bool:
    """Whether the system would end this session where a larger machine would go on."""
    room = limit()
    return room is not None and room < LITTLE


def fit(store: TrainStore) -> None:
    """Begin a visit with what fits: shorter runs, and one worker process beside the app."""
    if little():
        store.param.update(steps=SHORT, workers=1)


def notices() -> list[str]:
    """What a person should know of this machine, in sentences."""
    room, small = limit(), ""
    if little() and room is not None:
        small = (
            f"This session has {room / 1e9:.1f} GB of memory, so it begins small: runs of {SHORT} steps, and further "
            "seeds train one after the other."
        )
    return [sentence for sentence in (small, doubt()) if sentence]
