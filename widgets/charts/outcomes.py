"""Outcomes side by side: every seed a mark, the band is mean and standard deviation, each strategy in its colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, Span
from bokeh.plotting import figure

from playground.finetuning.comparing.compare import spread
from widgets.charts.strategies_over_steps import shape, style
from widgets.theme import GREY, chart

Values = Mapping[str, Sequence[float]]


def marks(values: Values) -> dict[str, list]:
    """One row per strategy and seed."""
    rows = [(name, v, style(k)[0], shape(k)) for k, (name, some) in enumerate(values.items()) for v in some]
    return {what: [row[k] for row in rows] for k, what in enumerate(("name", "value", "colour", "shape"))}


def bands(values: Values) -> dict[str, list]:
    """Mean and standard deviation of every strategy that has a value."""
    some = {name: spread(v) for name, v in values.items() if v}
    return {
        "name": list(some),
        "mean": [s["mean"] for s in some.values()],
        "low": [s["mean"] - s["sd"] for s in some.values()],
        "high": [s["mean"] + s["sd"] for s in some.values()],
        "colour": [style(index)[0] for index, v in enumerate(values.values()) if v],
    }


@dataclass(frozen=True)
class OutcomeChart:
    """A figure of marks and bands that is filled as the lanes finish."""

    figure: figure
    marks: ColumnDataSource
    bands: ColumnDataSource

    def show(self, values: Values) -> None:
        """Draw all outcomes so far."""
        self.figure.y_range.factors = list(reversed(list(values)))
        self.marks.data = marks(values)
        self.bands.data = bands(values)
        if seen := list(self.marks.data["value"]):
            room = 0.08 * (max(seen) - min(seen)) + 0.02
            self.figure.x_range.update(start=min(seen) - room, end=max(seen) + room)
        self.figure.height = 84 + 30 * len(values)


def outcome_chart(title: str, axis: str, zero: bool = False) -> OutcomeChart:
    """An empty chart with one line per strategy; `zero` draws the line at nothing."""
    plot = chart(height=190, title=title, x_axis_label=axis, x_range=(0, 1), y_range=FactorRange(factors=[""]))
    plot.ygrid.visible = False
    seeds, spans = ColumnDataSource(marks({})), ColumnDataSource(bands({}))
    plot.hbar(y="name", left="low", right="high", height=0.42, source=spans, color="colour", alpha=0.24)
    mean = plot.scatter(
        "mean", "name", source=spans, marker="dash", angle=1.5708, size=24, color="colour", line_width=3
    )
    dots = plot.scatter("value", "name", source=seeds, marker="shape", size=9, color="colour", alpha=0.8)
    if zero:
        plot.add_layout(Span(location=0, dimension="height", line_color=GREY, line_width=1))
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[("strategy", "@name"), ("value", "@value{0.000}")]))
    plot.add_tools(HoverTool(renderers=[mean], tooltips=[("strategy", "@name"), ("mean", "@mean{0.000}")]))
    return OutcomeChart(plot, seeds, spans)
