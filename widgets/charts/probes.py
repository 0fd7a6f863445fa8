"""Gauges over steps: when a model comes to understand what nobody asked it to learn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, Range1d, Span
from bokeh.plotting import figure

from playground.analysis.probes import PROBES
from playground.training.observe.probes import Measured
from widgets.charts.legend import Mark, key
from widgets.charts.stream import append
from widgets.theme import BLUE, GREEN, GREY, ORANGE, VERMILION, chart

COLOURS = dict(zip((gauge.name for gauge in PROBES), (BLUE, ORANGE, GREEN, VERMILION), strict=True))
SHAPES = dict(zip((gauge.name for gauge in PROBES), ("circle", "square", "triangle", "diamond"), strict=True))


KEY = key([Mark(name, colour, shape=SHAPES[name], width=1.8) for name, colour in COLOURS.items()])
"""Which line is which gauge."""


def values(measured: Sequence[Measured], name: str) -> dict[str, list[float]]:
    """One gauge at every step at which it was measured."""
    kept = [m for m in measured if name in m.gauges]
    return {"step": [m.step for m in kept], "right": [m.gauges[name] for m in kept]}


@dataclass(frozen=True)
class GaugeChart:
    """The figure and one growing source for each gauge."""

    figure: figure
    sources: dict[str, ColumnDataSource] = field(default_factory=dict)

    def show(self, measured: Sequence[Measured]) -> None:
        """Draw what was measured and nothing else."""
        for name, source in self.sources.items():
            source.data = values(measured, name)

    def extend(self, measured: Sequence[Measured]) -> None:
        """Append what was measured since."""
        for name, source in self.sources.items():
            append(source, values(measured, name))


def gauge_chart(steps: Range1d) -> GaugeChart:
    """An empty chart over the given range of steps."""
    plot = chart(
        height=210,
        min_border_left=64,
        x_axis_label="steps",
        y_axis_label="accuracy (chance is 50 %)",
        x_range=steps,
        y_range=(0.3, 1.03),
    )
    plot.yaxis.update(ticker=FixedTicker(ticks=[0.5, 0.75, 1.0]), formatter=NumeralTickFormatter(format="0 %"))
    sources = {name: ColumnDataSource(values((), name)) for name in COLOURS}
    dots = []
    for name, source in sources.items():
        plot.line("step", "right", source=source, color=COLOURS[name], line_width=1.8)
        dots.append(
            plot.scatter(
                "step", "right", source=source, color=COLOURS[name], marker=SHAPES[name], size=6, name=name,
            )
        )  # fmt: skip
    plot.add_tools(HoverTool(renderers=dots, tooltips=[("", "$name"), ("step", "@step"), ("right", "@right{0 %}")]))
    plot.add_layout(Span(location=0.5, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4))
    return GaugeChart(plot, sources)
