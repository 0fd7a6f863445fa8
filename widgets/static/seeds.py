"""What the other seeds of a run do, in plain sentences."""

from collections.abc import Sequence

from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import Band

ALONE = (
    "Pause and Stop hold for all seeds; Step, Step through one update and a setting that is changed now only for the "
    "one on screen. The others keep their curves, gauges, bookmarks and film, but not what happens inside their layers."
)
"""What does not reach the others, and what is not kept of them."""


def told(siblings: ExtraSeeds | None, bands: Sequence[Band], last: int | None) -> str:
    """Who trains where and how far, and what all of them came to."""
    if siblings is None:
        return ""
    if siblings.error:
        return siblings.error
    return " ".join(filter(None, (_where(siblings, last), _sum(bands), ALONE if siblings.state != "done" else "")))


def _where(siblings: ExtraSeeds, last: int | None) -> str:
    one, steps = len(siblings.seeds) == 1, [f"{step:,}" for step in siblings.steps.values()]
    seeds, steps = f"Seed{'s' * (not one)} {_and(siblings.seeds)}", f"{_and(steps)} of {last or 0:,} steps"
    place = f"in {siblings.workers} processes"
    if siblings.workers == 1:
        place = "in a process of its own" if one else "one after the other in a process of their own"
    match siblings.state:
        case "ready":
            return f"{seeds} will train beside this one, {place}."
        case "running":
            return f"{seeds} train{'s' * one} beside this one, {place}: {steps}."
        case "paused":
            return f"{seeds} wait{'s' * one} with this one: {steps}."
    return f"{seeds} ended after {steps}."


def _sum(bands: Sequence[Band]) -> str:
    """The last point that two seeds or more have reached."""
    last = next((band for band in reversed(bands) if band.seeds > 1), None)
    if last is None:
        return ""
    return f"Held out over {last.seeds} seeds at step {last.step:,}: {last.mean:.3f} ± {last.sd:.3f} nats."


def _and(parts: Sequence[object]) -> str:
    *others, end = map(str, parts)
    return f"{', '.join(others)} and {end}" if others else end
