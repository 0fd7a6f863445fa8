"""What the container leaves to this process, where the system holds it in one: its limit of memory and what is free."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SYSTEM = Path("/")
"""Where the files of the system begin."""

NO_LIMIT = 1 << 50
"""Bytes from which a limit stands for none: the first version of control groups writes a number for "no limit"."""


@dataclass(frozen=True)
class Kind:
    """Where a version of Linux's control groups is, and how it names the limit, the use and the idle file cache."""

    folder: str
    limit: str
    used: str
    cache: str


FIRST = Kind("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
SECOND = Kind("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")


def limit(system: Path = SYSTEM) -> int | None:
    """Bytes that this process and those beside it in the container may take; None where nobody says."""
    return min((most for _, _, most in _limits(system)), default=None)


def free(system: Path = SYSTEM) -> int | None:
    """Bytes of them that are not in use; files that were read and are idle make room when it is wanted."""
    left = (most - _used(group, kind) for group, kind, most in _limits(system))
    return min((max(0, each) for each in left), default=None)


def _limits(system: Path) -> Iterator[tuple[Path, Kind, int]]:
    """Every group around this process that has a limit; the tightest of them counts."""
    for group, kind in _groups(system):
        said = _read(group / kind.limit).strip()
        if said.isdigit() and int(said) < NO_LIMIT:
            yield group, kind, int(said)


def _groups(system: Path) -> Iterator[tuple[Path, Kind]]:
    """The group of this process and all that hold it; a container often sees its own group as the outermost."""
    for line in _read(system / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        kind = FIRST if controllers else SECOND
        outermost = system / kind.folder
        inner = outermost / path.strip("/")
        yield from ((group, kind) for group in (inner, *inner.parents) if group.is_relative_to(outermost))


def _used(group: Path, kind: Kind) -> int:
    stat = dict(line.split(maxsplit=1) for line in _read(group / "memory.stat").splitlines())
    return int(_read(group / kind.used) or 0) - int(stat.get(kind.cache, 0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
