"""The band of a class: the held-out loss of all seeds, one's own curve, and the guesses at the last step."""

from widgets.charts.chart import Chart
from widgets.charts.columns import loss_label
from widgets.charts.strategies_over_steps import banded
from widgets.theme import chart

FILLS = "@media (min-width: 901px) { :host { min-height: calc(100vh - 440px); } }"
"""On a projector the figure takes the height that the rest of the page leaves."""


def class_chart(height: int = 420) -> Chart:
    """An empty figure, whose axes begin at 0 so that little moves but the band."""
    plot = chart(
        height=height, min_border_left=64, x_axis_label="steps", y_axis_label=loss_label(["nats"]), x_range=(0, 1)
    )
    plot.y_range.start = 0
    plot.stylesheets = [*plot.stylesheets, FILLS]
    return banded(plot, "step", [("", "@name"), ("step", "@step"), ("mean", "@value{0.000}")], seeds=True)
