"""Which cases a run of the tests holds: all of them, a sample that meets every law and every value, or a glance.

A test over several lists of values has a case for every combination with `--all`. Without it there is one for each
value of the longest list, chosen among its combinations by the names of the test and of the case, and one more for
each value of the other lists that is not met by then. A run is therefore the same each time, and a new entry of the
catalogue leaves the cases of the others as they are. A test marked `whole` is never sampled.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import pytest
from xdist.scheduler import LoadFileScheduling

Tier = Literal["all", "sample", "quick"]
FEW = 12
"""So many combinations are never sampled."""

HERE = Path(__file__).parent
LONG = ("browser", "notebooks")
"""The folders whose tests need a browser or a kernel: one of them runs at a time, and without `--all` few."""

TRAINING = (
    "contracts/test_compression.py",
    "contracts/test_devices.py",
    "contracts/test_faults.py",
    "contracts/test_instruments.py",
    "contracts/test_stacked.py",
    "contracts/test_strategies.py",
    "contracts/test_train_this.py",
    "examples",
    "playground/analysis",
    "playground/claims",
    "playground/cli",
    "playground/compression",
    "playground/finetuning",
    "playground/hunt",
    "playground/interop/test_run.py",
    "playground/test_cli.py",
    "playground/test_cluster.py",
    "playground/training",
    "playground/zoo/test_phase.py",
    "playground/zoo/test_preset.py",
    "widgets/app",
    "widgets/pages/test_inside.py",
    "widgets/pages/test_train.py",
    "widgets/pages/test_transfer.py",
    "widgets/state",
)
NOT_QUICK = tuple(HERE / name for name in (*LONG, "fuzz", *TRAINING))
"""What `--quick` does not even read: what opens a page or trains a model."""


def cases(test: str, calls: Sequence[Any], whole: bool, tier: Tier) -> list[Any]:
    """The cases of a parametrised test that a tier holds, at least one, in their order."""
    if tier == "all":
        return list(calls)
    common = [call for call in calls if "exhaustive" not in names_of(call)] or list(calls[:1])
    if tier == "quick":
        return [next((call for call in common if "slow" not in names_of(call)), common[0])]
    return common if whole or len(common) <= FEW else sampled(test, common)


def names_of(call: Any) -> set[str]:
    """The names of the marks of one case."""
    return {mark.name for mark in call.marks}


def sampled(test: str, calls: Sequence[Any]) -> list[Any]:
    """One case for each value of the longest list, and for each value of another list that would not be met."""
    columns = {tuple(call.indices[name] for call in calls) for name in calls[0].indices}
    longest, *others = sorted(columns, key=lambda column: (-len(set(column)), column))
    kept: set[int] = set()
    for column in (longest, *others):
        for value in sorted(set(column) - {column[number] for number in kept}):
            having = [number for number, each in enumerate(column) if each == value]
            kept.add(having[crc32(f"{test} {calls[having[0]].id}".encode()) % len(having)])
    return [calls[number] for number in sorted(kept)]


def stays(item: pytest.Item, tier: Tier) -> bool:
    """Whether a tier holds a test: what is slow or needs a browser or a kernel must be `guarded`."""
    if tier == "all":
        return True
    long = item.get_closest_marker("slow") is not None or item.path.relative_to(HERE).parts[0] in LONG
    if tier == "quick":
        return not long
    return not long or item.get_closest_marker("guarded") is not None


class OneBrowser(LoadFileScheduling):
    """The tests of a file go to one worker, and so do all that need a browser or a kernel: they disturb each other."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.split("/")[1] in LONG else super()._split_scope(nodeid)
