"""Regret over the steps: how far the loss is above that of the best possible prediction."""

from collections.abc import Sequence

from bokeh.models import HoverTool, Range1d, Span

from playground.training.observe.recording import Regrets
from widgets.charts.chart import Chart, Cursor
from widgets.charts.columns import Columns
from widgets.design_tokens import BLUE, GREY
from widgets.theme import chart

SHOWN, SMALL = 3, 0.05
"""Phenomena that are named, and the nats below which one counts as learnt."""


def values(regrets: Sequence[Regrets]) -> Columns:
    """The regret of a mean word at every step at which it was measured, and what is not learnt yet."""
    return {
        "step": [r.step for r in regrets],
        "nats": [r.total for r in regrets],
        "unlearnt": [unlearnt(r) for r in regrets],
    }


def unlearnt(regrets: Regrets) -> str:
    """What costs most, in a sentence; phenomena come in the order of their share of the total."""
    large = [f"{name} ({nats:.2f} nats)" for name, nats in regrets.each.items() if nats >= SMALL][:SHOWN]
    rest = f" Not learned yet: {', '.join(large)}." if large else " Every phenomenon is learned."
    return f"{regrets.total:.2f} nats a word above the best possible.{rest}"


def regret_chart(steps: Range1d, cursor: Cursor) -> Chart:
    """An empty chart over the given range of steps."""
    plot = chart(height=170, min_border_left=64, x_axis_label="steps", y_axis_label="nats a word", x_range=steps)
    cursor.link(plot)
    plot.y_range.update(start=-0.2, min_interval=0.5)
    made = Chart.of(plot, (), regret=values)
    source = made.sources["regret"]
    plot.line("step", "nats", line_width=1.8, color=BLUE, source=source)
    dots = plot.scatter("step", "nats", size=6, color=BLUE, source=source)
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[("step", "@step"), ("", "@unlearnt")]))
    plot.add_layout(Span(location=0, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4))
    return made
