"""Loss over learning rate: what a search for a rate has tried, and the rate that it suggests."""

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, HoverTool, Span
from bokeh.plotting import figure

from playground.training.rates import Found, Tried
from widgets.theme import BLUE, GREEN, chart


def columns(tried: Sequence[Tried]) -> dict[str, list[float]]:
    """One row per rate that was tried."""
    return {"rate": [t.rate for t in tried], "loss": [t.loss for t in tried], "smooth": [t.smooth for t in tried]}


@dataclass(frozen=True)
class RateChart:
    """The figure, its points, and the line at the suggested rate."""

    figure: figure
    source: ColumnDataSource
    best: Span

    def show(self, tried: Sequence[Tried], found: Found | None) -> None:
        """Draw the search so far."""
        if tried:
            self.figure.x_range.update(start=tried[0].rate, end=max(t.rate for t in tried) * 1.1)
            self.figure.y_range.update(start=0, end=1.4 * tried[0].smooth)
        self.source.data = columns(tried)
        self.best.update(location=found.rate if found else 1e-3, visible=found is not None)


def rate_chart() -> RateChart:
    """An empty chart."""
    plot = chart(
        height=210,
        x_axis_type="log",
        x_range=(1e-6, 1),
        y_range=(0, 8),
        x_axis_label="learning rate",
        y_axis_label="loss (nats)",
    )
    source = ColumnDataSource(columns(()))
    plot.scatter("rate", "loss", source=source, color=BLUE, alpha=0.35, size=4)
    line = plot.line("rate", "smooth", source=source, color=BLUE, line_width=2.2)
    plot.add_tools(HoverTool(renderers=[line], tooltips=[("rate", "@rate{0.00000}"), ("loss", "@smooth{0.000}")]))
    best = Span(location=1e-3, dimension="height", line_color=GREEN, line_width=1.8, line_dash="dashed", visible=False)
    plot.add_layout(best)
    return RateChart(plot, source, best)
