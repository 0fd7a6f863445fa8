"""Gradient and update of every group of layers over the steps, as two heat strips."""

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, LogColorMapper, Range1d
from bokeh.plotting import figure

from playground.training.observe.recording import Sized
from widgets.charts.stream import append
from widgets.theme import BLUES, chart

MEASURES = {
    "gradient": "length of the gradient",
    "share": "update norm / weight norm",
}
"""What is drawn, by the name of the column."""


def columns(sized: Sequence[Sized]) -> dict[str, list]:
    """One row per measured step and group of layers."""
    cells = [(one.step, group) for one in sized for group in one.groups]
    return {
        "step": [step for step, _ in cells],
        "group": [group.name for _, group in cells],
        "gradient": [group.gradient for _, group in cells],
        "share": [group.share for _, group in cells],
    }


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
            self._fit(sized[0], each)
            self._shade(columns(sized))
            self.source.data = columns(sized)

    def extend(self, sized: Sequence[Sized], each: int) -> None:
        """Append what was measured since."""
        self._fit(sized[0], each)
        self._shade(columns(sized))
        append(self.source, columns(sized))

    def _fit(self, one: Sized, each: int) -> None:
        """A row for each group of layers."""
        groups = [group.name for group in one.groups]
        for plot in self.figures:
            plot.renderers[0].glyph.width = each
            if list(plot.y_range.factors) != groups:
                plot.y_range.factors = groups
                plot.height = 62 + 24 * len(groups)

    def _shade(self, fresh: dict[str, list]) -> None:
        """Colours from the least to the greatest so far, at most a thousandfold."""
        first = len(self.source.data["step"]) == 0
        for what, mapper in zip(MEASURES, self.mappers, strict=True):
            if values := [v for v in fresh[what] if v > 0]:
                values += [] if first else [mapper.low, mapper.high]
                mapper.update(low=max(min(values), max(values) / 1e3), high=max(values))


def size_strips(steps: Range1d) -> SizeStrips:
    """Empty strips over the given range of steps."""
    source = ColumnDataSource(columns(()))
    made = [_strip(what, title, steps, source) for what, title in MEASURES.items()]
    return SizeStrips(tuple(plot for plot, _ in made), tuple(mapper for _, mapper in made), source)


def _strip(what: str, title: str, steps: Range1d, source: ColumnDataSource) -> tuple[figure, LogColorMapper]:
    mapper = LogColorMapper(palette=list(BLUES), low=1e-4, high=1)
    plot = chart(height=130, x_axis_label="steps", x_range=steps, y_range=FactorRange(), title=title)
    plot.title.update(text_font_size="12px", text_font_style="normal")
    plot.grid.visible = False
    plot.rect(
        x="step", y="group", width=20, height=0.9, source=source, line_alpha=0,
        fill_color={"field": what, "transform": mapper},
    )  # fmt: skip
    tip = [("step", "@step"), ("layer", "@group"), (what, f"@{what}{{0.00000}}")]
    plot.add_tools(HoverTool(tooltips=tip))
    return plot, mapper
