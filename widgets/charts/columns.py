"""Columns, lines and ticks of the pictures that are drawn twice: by Bokeh on a page, and as SVG where there is none."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, log10
from typing import Any

from torch import Tensor

from playground.training.curve import CurvePoint
from playground.training.parallel.seeds import Band, spread
from widgets.charts.legend import Mark, shape, style
from widgets.design_tokens import BLUE, GREEN, GREY, VERMILION

Columns = dict[str, list[Any]]


def columns_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    """Rows as columns with these names, which are there without a row too."""
    listed = list(rows)
    return {name: [row[k] for row in listed] for k, name in enumerate(names)}


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from low to high: steps of 1, 2 or 5 times a power of ten."""
    rough = max(high - low, 1e-9) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999)
    return [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


# loss over steps


def loss_label(units: Iterable[str]) -> str:
    """The label of an axis of losses in some units."""
    return f"loss ({' or '.join(dict.fromkeys(units))} per position)"


LINES = (Mark("training", BLUE, width=1.2), Mark("held out", VERMILION, shape="circle"))

LEVELS = (
    Mark("unigram baseline", GREY, "dashed", width=1.4),
    Mark("entropy bound (autoregressive)", GREEN, "dotted", width=1.6),
)
"""The two losses that a run lies between, where they are known."""

AXES = {
    "steps": "step", "tokens read": "tokens", "scored answers": "scored", "operations": "flops", "seconds": "seconds",
}  # fmt: skip
"""What the loss may be drawn over, by the name on the page."""

ESTIMATED = {"operations": "Operations are an estimate: counted in the first batch, by their positions for others."}
"""Notes on an axis."""


def training(rows: Sequence[CurvePoint], target: str = "") -> Columns:
    """The training loss of a question in every step that asked it, per scored position, over every axis.

    Without a question it is the loss of the first one of each step.
    """
    return _over_all_axes([r for r in rows if r.loss is not None], target)


def held_out(rows: Sequence[CurvePoint], target: str = "") -> Columns:
    """The same of the held-out loss at every evaluation."""
    return _over_all_axes([r for r in rows if r.held_out is not None], target)


def _over_all_axes(rows: Sequence[CurvePoint], target: str) -> Columns:
    known = [(row, _loss(row, target)) for row in rows]
    found = [(row, loss) for row, loss in known if loss is not None]
    return {name: [getattr(row, name) for row, _ in found] for name in AXES.values()} | {
        "loss": [loss for _, loss in found]
    }


def _loss(row: CurvePoint, target: str) -> float | None:
    if target:
        return dict(row.more).get(target)
    return row.held_out if row.loss is None else row.loss


def band(rows: Sequence[CurvePoint], bands: Sequence[Band]) -> Columns:
    """A standard deviation around the mean of all seeds, wherever the seed with these rows was evaluated too."""
    at = {row.step: row for row in rows if row.held_out is not None}
    kept = [one for one in bands if one.seeds > 1 and one.step in at]
    sides = {"low": [one.mean - one.sd for one in kept], "high": [one.mean + one.sd for one in kept]}
    return marks(list(at.values()), [one.step for one in kept]) | sides


def marks(rows: Sequence[CurvePoint], steps: Sequence[int]) -> Columns:
    """Where some steps stand on every axis."""
    at = {row.step: row for row in rows}
    return {name: [getattr(at[step], name) for step in steps if step in at] for name in AXES.values()}


def phases(rows: Sequence[CurvePoint], begun: Sequence[tuple[int, str]]) -> Columns:
    """Where the phases of a run begin, by step and name, on every axis, with a height for the names."""
    at = {row.step for row in rows}
    known = [(step, name) for step, name in begun if step in at]
    named = {"name": [name for _, name in known], "top": [0.0] * len(known)}
    return marks(rows, [step for step, _ in known]) | named


def highest_loss(unigram: float | None, training: Sequence[float], *whole: Sequence[float]) -> float:
    """Where the axis of the loss ends: above the unigram baseline, or above the first losses where there is none.

    Of what is drawn `whole` (held-out losses, bands) no value lies above it.
    """
    first = max((loss for losses in (training, *whole) for loss in losses[:1] if isfinite(loss)), default=0)
    highest = max((loss for losses in whole for loss in losses if isfinite(loss)), default=0)
    return max(round(1.6 * (unigram or first), 1), ceil(10.5 * highest) / 10) or 8


# outcomes by seed

Values = Mapping[str, Sequence[float]]


def seed_marks(values: Values) -> Columns:
    """One row per strategy and seed that has a finite value."""
    named = enumerate(_finite(values).items())
    rows = [(name, value, style(k)[0], shape(k)) for k, (name, some) in named for value in some]
    return columns_of(("name", "value", "colour", "shape"), rows)


def seed_bands(values: Values) -> Columns:
    """Mean and standard deviation of every strategy that has a finite value."""
    named = [(name, spread(some), style(k)[0]) for k, (name, some) in enumerate(_finite(values).items()) if some]
    rows = [(name, s["mean"], s["mean"] - s["sd"], s["mean"] + s["sd"], colour) for name, s, colour in named]
    return columns_of(("name", "mean", "low", "high", "colour"), rows)


def seed_range(values: Values) -> tuple[float, float]:
    """Where the axis of the values begins and ends."""
    seen = [value for some in _finite(values).values() for value in some]
    room = 0.08 * (max(seen) - min(seen)) + 0.02 if seen else 0
    return min(seen, default=0) - room, max(seen, default=1) + room


def _finite(values: Values) -> dict[str, list[float]]:
    return {name: [value for value in some if isfinite(value)] for name, some in values.items()}


# plasticity plan


def shares(plan: Tensor) -> Tensor:
    """A plasticity plan `[g, s]` as shares of its highest multiplier; 0 is frozen."""
    return plan / max(float(plan.max()), 1e-12)


def shortened(name: str, names: Sequence[str]) -> str:
    """The name of a layer group without its stack, where a model has one stack only."""
    return name if any(other.startswith("decoder") for other in names) else name.removeprefix("encoder ")
