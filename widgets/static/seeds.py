"""What the other seeds of a run do, in plain sentences."""

from collections.abc import Sequence

from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import Band

ALONE = (
    "Pause and Stop apply to all seeds; Step, Step through one update and a setting that is changed now only to the "
    "one on screen. The others keep their curves, probes, bookmarks and attention, but not what is inside "
    "their layers."
)
"""What does not apply to the other seeds, and what is not kept of them."""


def describe_seeds(siblings: ExtraSeeds | None, bands: Sequence[Band], last: int | None) -> str:
    """Where the other seeds train and how far they are, and the last loss that two seeds or more have reached.

    What stopped them is said among the troubles of the run.
    """
    if siblings is None or siblings.error:
        return ""
    lines = [_where(siblings, last)]
    if band := next((band for band in reversed(bands) if band.seeds > 1), None):
        lines.append(f"Held out over {band.seeds} seeds at step {band.step:,}: {band.mean:.3f} ± {band.sd:.3f} nats.")
    return " ".join([*lines, *([ALONE] if siblings.state != "done" else [])])


def _where(siblings: ExtraSeeds, last: int | None) -> str:
    one, steps = len(siblings.seeds) == 1, [f"{step:,}" for step in siblings.steps.values()]
    seeds, steps = f"Seed{'s' * (not one)} {_and(siblings.seeds)}", f"{_and(steps)} of {last or 0:,} steps"
    place = f"in {siblings.workers} processes"
    if siblings.workers == 1:
        place = "in a process of its own" if one else "one after the other in a process of their own"
    match siblings.state:
        case "ready":
            return f"{seeds} will train alongside this one, {place}."
        case "running":
            return f"{seeds} train{'s' * one} alongside this one, {place}: {steps}."
        case "paused":
            return f"{seeds} wait{'s' * one} with this one: {steps}."
    return f"{seeds} ended after {steps}."


def _and(parts: Sequence[object]) -> str:
    *others, end = map(str, parts)
    return f"{', '.join(others)} and {end}" if others else end
