"""The numbers of a run: its state, its last losses and how fast it is."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from playground.devices import describe
from playground.training import Session
from playground.training.curve import CurvePoint
from playground.zoo import Entry
from widgets.theme import figures

STATES = {
    "running": "training", "steps": "finished", "seconds": "finished", "diverged": "diverged (NaN or infinity)",
    "asked": "stopped at step {:,}", "cut off": "cut off at step {:,}", "failed": "failed at step {:,}",
}  # fmt: skip
"""What a run does, or how it ended."""

PAUSING = "pausing"  # stands there until the step that is being taken is done

LAST_ROWS = 40  # rows over which the training loss is averaged


def numbers(session: Session | None, earlier: bool = False) -> str:
    """The numbers of a run as markup; an `earlier` one is not the run that was asked for last."""
    if session is None:
        missing = dict.fromkeys(("loss", "held out", "tokens/s", "device"), "–")
        return figures({"state": "ready", "step": "0", **missing})
    state = _state(session)  # first: what rests adds no row any more
    rows, entry = session.rows, session.run.entry
    units = {name: entry.unit(name) for name in entry.target_names}
    stepped = [r for r in rows[-LAST_ROWS:] if r.loss is not None]
    tested = next((r for r in reversed(rows) if r.held_out is not None), None)
    last = rows[-1] if rows else None
    return figures(
        {
            "state": f"earlier run, {state}" if earlier else state,
            "step": f"{last.step if last else 0} of {session.run.last}",
            **_phase(entry, last.step if last else 0),
            **_named("loss", _means(stepped), units),
            **_named("held out", {} if tested is None else dict(tested.more), units),
            **_accuracy({} if tested is None else dict(tested.accuracy), units),
            **_gauges({} if tested is None else dict(tested.gauges), session.run.entry.model.width),
            "tokens/s": f"{last.tokens / last.seconds:,.0f}" if last and last.seconds else "–",
            "device": f"{describe(session.run.device)}, seed {session.run.seed}",
        }
    )


def _state(session: Session) -> str:
    if session.state == "paused" and not session.rests:
        return PAUSING
    state = session.reason if session.state == "done" else session.state
    return STATES.get(state, state).format(session.rows[-1].step if session.rows else 0)


def _phase(entry: Entry, step: int) -> dict[str, str]:
    """The phase that a run is in, where it has several."""
    number, names = entry.phase_at(step), [phase.name for phase in entry.all_phases]
    return {"phase": f"{number + 1} of {len(names)}, {names[number]}"} if len(names) > 1 else {}


def _means(rows: Sequence[CurvePoint]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.more:
            found.setdefault(name, []).append(value)
    return {name: fmean(values) for name, values in found.items()}


def _named(what: str, values: Mapping[str, float], units: Mapping[str, str]) -> dict[str, str]:
    if len(units) < 2:
        return {f"{what} ({unit})": f"{next(iter(values.values())):.3f}" if values else "–" for unit in units.values()}
    return {
        f"{what}, {name} ({unit})": f"{values[name]:.3f}" if name in values else "–" for name, unit in units.items()
    }


def _accuracy(right: Mapping[str, float], units: Mapping[str, str]) -> dict[str, str]:
    several = len(units) > 1
    return {f"accuracy, {name + ', ' if several else ''}held out": f"{share:.1%}" for name, share in right.items()}


def _gauges(values: Mapping[str, float], width: int) -> dict[str, str]:
    """The gauges of the last evaluation; a rank is at most the width, and near 1 all targets are nearly the same."""
    return {f"{name} (1 = collapse)": f"{value:.1f} of {width}" for name, value in values.items()}
