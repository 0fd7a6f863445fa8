"""Zero-shot accuracy of the probes over the steps."""

from collections.abc import Sequence
from functools import partial

from bokeh.models import FixedTicker, HoverTool, NumeralTickFormatter, Range1d, Span

from playground.analysis.probes import PROBES
from playground.training.observe.recording import Measured
from widgets.charts.chart import Chart
from widgets.charts.columns import Columns
from widgets.charts.legend import MARKERS, Mark, key
from widgets.theme import chart
from widgets.tokens import BLUE, GREEN, GREY, ORANGE, VERMILION

MARKS = [
    Mark(probe.name, colour, shape=shape, width=1.8)
    for probe, colour, shape in zip(PROBES, (BLUE, ORANGE, GREEN, VERMILION), MARKERS, strict=True)
]

KEY = key(MARKS)
"""Which line is which probe."""


def values(measured: Sequence[Measured], name: str) -> Columns:
    """One probe at every step at which it was measured."""
    kept = [m for m in measured if name in m.gauges]
    return {"step": [m.step for m in kept], "right": [m.gauges[name] for m in kept]}


def gauge_chart(steps: Range1d) -> Chart:
    """An empty chart over the given range of steps."""
    plot = chart(
        height=210, min_border_left=64, x_axis_label="steps", y_axis_label="accuracy (chance is 50 %)", x_range=steps,
        y_range=(0.3, 1.03),
    )  # fmt: skip
    plot.yaxis.update(ticker=FixedTicker(ticks=[0.5, 0.75, 1.0]), formatter=NumeralTickFormatter(format="0 %"))
    made = Chart.of(plot, (), **{mark.name: partial(values, name=mark.name) for mark in MARKS})
    dots = []
    for mark in MARKS:
        look = {"source": made.sources[mark.name], "color": mark.colour}
        plot.line("step", "right", line_width=mark.width, **look)
        dots.append(plot.scatter("step", "right", marker=mark.shape, size=6, name=mark.name, **look))
    plot.add_tools(HoverTool(renderers=dots, tooltips=[("", "$name"), ("step", "@step"), ("right", "@right{0 %}")]))
    plot.add_layout(Span(location=0.5, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4))
    return made
