"""Runs that are kept, side by side: the mean held-out loss of each with its band, read at one step for all."""

from collections.abc import Mapping
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from widgets.charts.strategies_over_steps import Steps, banded, lines, means
from widgets.theme import chart


@dataclass(frozen=True)
class KeptChart:
    """A figure with a band and a line for every run, and a dot at every evaluation."""

    figure: figure
    lines: ColumnDataSource
    means: ColumnDataSource

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw these runs and no others; several seeds at a step are their mean and one standard deviation."""
        self.lines.data, self.means.data = lines(values), means(values, "step")


def kept_chart() -> KeptChart:
    """An empty figure; the pointer reads all runs at its step."""
    plot = chart(height=240, min_border_left=64, x_axis_label="steps", y_axis_label="held out (nats)")
    drawn, middles = ColumnDataSource(lines({})), ColumnDataSource(means({}, "step"))
    banded(plot, drawn)
    dots = plot.scatter("step", "value", source=middles, marker="shape", size=6, color="colour")
    shown = [("run", "@name"), ("step", "@step"), ("held out", "@value{0.000} nats")]
    plot.add_tools(HoverTool(renderers=[dots], mode="vline", tooltips=shown))
    return KeptChart(plot, drawn, middles)
