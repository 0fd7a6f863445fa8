"""A chart: a figure over sources, each filled by a pure function from values to columns; a line through several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bokeh import plotting
from bokeh.models import ColumnDataSource, CrosshairTool, Span

from widgets.charts.columns import Columns
from widgets.design_tokens import GREY


@dataclass(frozen=True)
class Chart:
    """A figure, its sources by name, the function that makes the columns of each, and one that fits the axes."""

    figure: plotting.figure
    sources: Mapping[str, ColumnDataSource]
    columns: Mapping[str, Callable[..., Columns]]
    fit: Callable[..., Any] | None = None

    @classmethod
    def of(cls, plot: plotting.figure, *empty: Any, fit: Callable[..., Any] | None = None, **columns: Any) -> "Chart":
        """A chart with the columns of `empty` values."""
        return cls(plot, {name: ColumnDataSource(make(*empty)) for name, make in columns.items()}, columns, fit)

    def show(self, *values: Any) -> None:
        """Draw these values and nothing else."""
        if self.fit is not None:
            self.fit(self.figure, *values)
        for name, source in self.sources.items():
            source.data = self.columns[name](*values)

    def extend(self, *values: Any) -> None:
        """Append new values; what is drawn stays, and is not sent again."""
        for name, source in self.sources.items():
            append(source, self.columns[name](*values))


def append(source: ColumnDataSource, columns: Columns, rollover: int | None = None) -> None:
    """Add rows to a source, if there are any."""
    if any(map(len, columns.values())):
        source.stream(columns, rollover)


class Cursor:
    """A vertical line that charts over the same steps share."""

    def __init__(self) -> None:
        self.line = Span(dimension="height", line_color=GREY, line_width=1, line_alpha=0.8)

    def link(self, chart: plotting.figure) -> None:
        """Draw the line in a chart too, where the pointer is."""
        self.leave(chart)
        chart.add_tools(CrosshairTool(dimensions="height", overlay=self.line))

    def leave(self, chart: plotting.figure) -> None:
        """Take the line out of a chart that is drawn over something else."""
        chart.tools = [
            tool for tool in chart.tools if not (isinstance(tool, CrosshairTool) and tool.overlay is self.line)
        ]
