"""Outcomes side by side: every seed a mark, the band is mean and standard deviation, each strategy in its colour."""

from bokeh.models import FactorRange, HoverTool, Span
from bokeh.plotting import figure

from widgets.charts.chart import Chart
from widgets.charts.columns import Values, seed_bands, seed_marks, seed_range, ticks
from widgets.design_tokens import GREY
from widgets.theme import chart


def outcome_chart(title: str, axis: str, zero: bool = False) -> Chart:
    """An empty chart with one line per strategy, filled as the trials finish; `zero` draws the line at 0."""
    plot = chart(height=190, title=title, x_axis_label=axis, x_range=(0, 1), y_range=FactorRange(factors=[""]))
    plot.ygrid.visible = False
    made = Chart.of(plot, {}, fit=_fit, bands=seed_bands, marks=seed_marks)
    bands, marks = made.sources.values()
    plot.hbar(y="name", left="low", right="high", height=0.42, source=bands, color="colour", alpha=0.24)
    mean = plot.scatter(
        "mean", "name", source=bands, marker="dash", angle=1.5708, size=24, color="colour", line_width=3
    )
    dots = plot.scatter("value", "name", source=marks, marker="shape", size=9, color="colour", alpha=0.8)
    if zero:
        plot.add_layout(Span(location=0, dimension="height", line_color=GREY, line_width=1))
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[("strategy", "@name"), ("value", "@value{0.000}")]))
    plot.add_tools(HoverTool(renderers=[mean], tooltips=[("strategy", "@name"), ("mean", "@mean{0.000}")]))
    return made


def _fit(plot: figure, values: Values) -> None:
    """A line for every strategy, the first one on top, and room for all values."""
    low, high = seed_range(values)
    plot.y_range.factors = list(reversed(list(values)))
    plot.x_range.update(start=low, end=high)
    plot.xaxis[0].ticker = ticks(low, high)
    plot.height = 84 + 30 * len(values)
