"""Several runs in one chart: their held-out curves, the mean and the band of those that differ by the seed alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, CrosshairTool, HoverTool, Span
from bokeh.plotting import figure

from widgets.theme import GREY, chart
from widgets.views.courses import Steps, lines


def dots(values: Mapping[str, Steps]) -> dict[str, list]:
    """One row per run and evaluation, to be read off at the cursor."""
    drawn = lines(values)
    return {
        "step": [step for steps in drawn["xs"] for step in steps],
        "loss": [loss for losses in drawn["ys"] for loss in losses],
        "name": [n for n, xs in zip(drawn["name"], drawn["xs"], strict=True) for _ in xs],
        "colour": [c for c, xs in zip(drawn["colour"], drawn["xs"], strict=True) for _ in xs],
    }


@dataclass(frozen=True)
class Overlay:
    """A figure with a line for every run, or a line and a band for every group of seeds."""

    figure: figure
    source: ColumnDataSource
    dots: ColumnDataSource

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw these runs."""
        self.source.data, self.dots.data = lines(values), dots(values)
        steps, losses = self.dots.data["step"], self.dots.data["loss"]
        if steps:
            self.figure.x_range.end = 1.02 * max(*steps, 1)
            self.figure.y_range.update(start=0.95 * min(losses), end=1.05 * max(losses))


def overlay() -> Overlay:
    """An empty chart; one cursor reads all curves at the same step."""
    plot = chart(
        height=250,
        min_border_left=64,
        x_range=(0, 100),
        y_range=(0, 8),
        x_axis_label="steps",
        y_axis_label="held out (nats)",
    )
    source, read = ColumnDataSource(lines({})), ColumnDataSource(dots({}))
    plot.patches("around", "band", source=source, color="colour", alpha=0.16, line_alpha=0)
    plot.multi_line("xs", "ys", source=source, color="colour", line_dash="dash", line_width=2.2)
    points = plot.scatter("step", "loss", source=read, color="colour", size=5)
    tips = [("step", "@step"), ("", "@name"), ("held out", "@loss{0.000} nats")]
    plot.add_tools(HoverTool(renderers=[points], tooltips=tips, mode="vline"))
    plot.add_tools(CrosshairTool(overlay=Span(dimension="height", line_color=GREY, line_dash="dotted")))
    return Overlay(plot, source, read)
