"""Gradient and update of every group of layers over the steps, as two heat strips."""

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, LogColorMapper, Range1d
from bokeh.plotting import figure

from playground.training.observe.recording import Sized
from widgets.charts.chart import Cursor, append
from widgets.charts.columns import Columns, columns_of
from widgets.design_tokens import BLUES
from widgets.theme import chart

HEIGHT = 130
"""Pixels of a strip before anything was measured."""

MEASURES = {"gradient": "gradient norm", "share": "update norm / weight norm"}
"""What is drawn, by the name of the column."""


def columns(sized: Sequence[Sized]) -> Columns:
    """One row per measured step and group of layers."""
    rows = [(one.step, group.name, group.gradient, group.share) for one in sized for group in one.groups]
    return columns_of(("step", "group", *MEASURES), rows)


@dataclass(frozen=True)
class SizeStrips:
    """Two figures over one source: the gradient, and the update as a share of the layer."""

    figures: tuple[figure, ...]
    mappers: tuple[LogColorMapper, ...]
    source: ColumnDataSource

    def show(self, sized: Sequence[Sized], each: int) -> None:
        """Draw what was measured and nothing else, a cell as wide as the steps between two measurements."""
        self.source.data = columns(())
        if sized:
            self.extend(sized, each)

    def extend(self, sized: Sequence[Sized], each: int) -> None:
        """Append what was measured since, with a row for each group of layers."""
        groups, fresh = [group.name for group in sized[0].groups], columns(sized)
        for plot in self.figures:
            plot.renderers[0].glyph.width = each
            if list(plot.y_range.factors) != groups:
                plot.y_range.factors = groups
                plot.height = 62 + 24 * len(groups)
        self._shade(fresh)
        append(self.source, fresh)

    def _shade(self, fresh: Columns) -> None:
        """Colours from the least to the greatest so far, at most a thousandfold."""
        for what, mapper in zip(MEASURES, self.mappers, strict=True):
            if values := [v for v in fresh[what] if v > 0]:
                values += [mapper.low, mapper.high] if len(self.source.data["step"]) else []
                mapper.update(low=max(min(values), max(values) / 1e3), high=max(values))


def size_strips(steps: Range1d, cursor: Cursor) -> SizeStrips:
    """Empty strips over the given range of steps."""
    source = ColumnDataSource(columns(()))
    plots, mappers = zip(*(_strip(what, title, steps, source) for what, title in MEASURES.items()), strict=True)
    for plot in plots:
        cursor.link(plot)
    return SizeStrips(plots, mappers, source)


def _strip(what: str, title: str, steps: Range1d, source: ColumnDataSource) -> tuple[figure, LogColorMapper]:
    mapper = LogColorMapper(palette=BLUES, low=1e-4, high=1)
    plot = chart(height=HEIGHT, x_axis_label="steps", x_range=steps, y_range=FactorRange(), title=title)
    plot.title.update(text_font_size="12px", text_font_style="normal")
    plot.grid.visible = False
    colour = {"field": what, "transform": mapper}
    plot.rect(x="step", y="group", width=20, height=0.9, source=source, line_alpha=0, fill_color=colour)
    plot.add_tools(HoverTool(tooltips=[("step", "@step"), ("layer", "@group"), (title, f"@{what}{{0.00000}}")]))
    return plot, mapper
