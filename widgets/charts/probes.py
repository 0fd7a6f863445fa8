"""Zero-shot accuracy of the probes over the steps."""

from collections.abc import Sequence

from bokeh.models import FixedTicker, NumeralTickFormatter, Range1d, Span

from playground.analysis.probes import PROBES
from playground.training.observe.recording import Measured
from widgets.charts.chart import Chart, Cursor
from widgets.charts.strategies_over_steps import Steps, banded, legend
from widgets.design_tokens import GREY
from widgets.theme import chart

KEY = legend([probe.name for probe in PROBES])
"""Which line is which probe."""


def values(measured: Sequence[Measured]) -> dict[str, Steps]:
    """Every probe at every step at which it was measured."""
    names = [probe.name for probe in PROBES]
    return {name: {m.step: [m.gauges[name]] for m in measured if name in m.gauges} for name in names}


def gauge_chart(steps: Range1d, cursor: Cursor) -> Chart:
    """An empty chart over the given range of steps."""
    plot = chart(
        height=210, min_border_left=64, x_axis_label="steps", y_axis_label="accuracy (chance is 50 %)", x_range=steps,
        y_range=(0.3, 1.03), name="probes",
    )  # fmt: skip
    cursor.link(plot)
    plot.yaxis.update(ticker=FixedTicker(ticks=[0.5, 0.75, 1.0]), formatter=NumeralTickFormatter(format="0 %"))
    plot.add_layout(Span(location=0.5, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4))
    return banded(plot, "step", [("", "@name"), ("step", "@step"), ("right", "@value{0 %}")], width=1.8)
