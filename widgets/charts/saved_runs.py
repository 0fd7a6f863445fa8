"""Saved runs side by side: the mean held-out loss of each with its band, read at one step for all."""

from widgets.charts.chart import Chart, Cursor
from widgets.charts.strategies_over_steps import banded
from widgets.theme import chart


def kept_chart(cursor: Cursor) -> Chart:
    """An empty figure: mean and standard deviation over the seeds of each run; the pointer reads all at its step."""
    plot = chart(height=240, min_border_left=64, x_axis_label="steps", y_axis_label="held-out loss")
    cursor.link(plot)
    hover = [("run", "@name"), ("step", "@step"), ("held out", "@value{0.000}")]
    return banded(plot, "step", hover, mode="vline")
