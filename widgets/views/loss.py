"""Loss over steps: training, held out, and the two lines it lies between."""

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool, Label, Span
from bokeh.plotting import figure

from playground.training.lanes import Band
from playground.training.session import Row
from widgets.theme import BLUE, GREEN, GREY, PURPLE, VERMILION, chart
from widgets.views.growing import append
from widgets.views.key import Mark, key
from widgets.views.recorded import RUN

Columns = dict[str, list[float]]

AXES = {
    "steps": "step",
    "tokens read": "tokens",
    "graded answers": "graded",
    "operations": "flops",
    "seconds": "seconds",
}
"""What the loss may be drawn over, by the name on the page."""

ESTIMATED = {
    "operations": "Operations are an estimate: counted in the first batch, told by their positions for others."
}
"""What has to be said of an axis."""


def training(rows: Sequence[Row]) -> Columns:
    """The training loss of every step, in nats per graded position, and every axis it may be drawn over."""
    return _columns([r for r in rows if r.loss is not None], "loss")


def held_out(rows: Sequence[Row]) -> Columns:
    """The held-out loss of every evaluation, in nats per graded position, and every axis it may be drawn over."""
    return _columns([r for r in rows if r.held_out is not None], "held_out")


def _columns(rows: Sequence[Row], what: str) -> Columns:
    return {name: [getattr(r, name) for r in rows] for name in AXES.values()} | {
        "loss": [getattr(r, what) for r in rows]
    }


def band(rows: Sequence[Row], bands: Sequence[Band]) -> Columns:
    """A standard deviation around the mean of all seeds, wherever the seed with these rows was evaluated too."""
    at = {row.step: row for row in rows if row.held_out is not None}
    kept = [one for one in bands if one.seeds > 1 and one.step in at]
    sides = {"low": [one.mean - one.sd for one in kept], "high": [one.mean + one.sd for one in kept]}
    return {name: [getattr(at[one.step], name) for one in kept] for name in AXES.values()} | sides


def marks(rows: Sequence[Row], steps: Sequence[int]) -> Columns:
    """Where some steps stand on every axis."""
    at = {row.step: row for row in rows}
    return {name: [getattr(at[step], name) for step in steps if step in at] for name in AXES.values()}


@dataclass(frozen=True)
class LossChart:
    """The figure and the sources that grow while a model trains."""

    figure: figure
    training: ColumnDataSource
    held_out: ColumnDataSource
    marks: ColumnDataSource
    band: ColumnDataSource
    unigram: Span
    bound: Span
    recorded: GlyphRenderer
    name: Label

    def show(self, rows: Sequence[Row]) -> None:
        """Draw these rows and no others."""
        self._give_way(rows)
        self.training.data, self.held_out.data, self.marks.data = training(rows), held_out(rows), marks((), ())
        self.band.data = band((), ())

    def extend(self, rows: Sequence[Row]) -> None:
        """Append the new rows; what is drawn stays."""
        self._give_way(rows)
        append(self.training, training(rows), rollover=20_000)
        append(self.held_out, held_out(rows))

    def _give_way(self, rows: Sequence[Row]) -> None:
        """The recorded run is shown only as long as there is nothing of a person's own."""
        if rows and self.recorded.visible:
            self._record(False)

    def _record(self, visible: bool) -> None:
        self.recorded.visible = self.name.visible = visible

    def over(self, axis: str) -> None:
        """Draw the same rows over another axis."""
        for renderer in self.figure.renderers:
            if renderer.name in ("run", "mark"):
                renderer.glyph.x = AXES[axis]
        self._record(AXES[axis] == "step" and not len(self.training.data["step"]))  # it knows steps alone
        self.figure.xaxis.axis_label = f"{axis} (estimate)" if axis in ESTIMATED else axis

    @property
    def axis(self) -> str:
        """The column that the loss is drawn over."""
        return next(r.glyph.x for r in self.figure.renderers if r.name == "run")

    def reach(self, last: Row | None, steps: int | None) -> float:
        """Where the axis ends: where the run will be at its last step, if it goes on as it did."""
        return _end(self.axis, last, steps)

    def limits(self, end: float, unigram: float | None, bound: float | None) -> None:
        """Draw what guessing by frequency alone would cost and, where known, the best possible; fix the axes."""
        self.figure.x_range.end = end
        self.figure.y_range.end = round(1.6 * unigram, 1) if unigram else 8
        self.unigram.update(location=unigram or 0, visible=unigram is not None)
        self.bound.update(location=bound or 0, visible=bound is not None)

    @property
    def key(self) -> str:
        """What is drawn now."""
        levels = (
            (self.unigram, Mark("frequencies alone", GREY, "dashed", width=1.4)),
            (self.bound, Mark("best possible, left to right", GREEN, "dotted", width=1.6)),
        )
        bookmarks = [Mark("a head learnt a pattern", PURPLE, width=1.4)] if len(self.marks.data["step"]) else []
        seeds = [Mark("all seeds, ± a standard deviation", VERMILION, width=6)] if len(self.band.data["low"]) else []
        return key([*LINES, *seeds, *(mark for span, mark in levels if span.visible), *bookmarks])


LINES = (Mark("training", BLUE, width=1.2), Mark("held out", VERMILION, shape="circle"))


def _end(axis: str, last: Row | None, steps: int | None) -> float:
    total = steps or max(100, last.step if last else 0)
    if axis == "step":
        return total
    here = getattr(last, axis) if last else 0
    ahead = here * total / last.step if last and last.step and here else 1.0
    step = 10 ** max(0, len(str(int(ahead))) - 2)
    return -(-ahead // step) * step if ahead > 1 else 1.0


def loss_chart() -> LossChart:
    """An empty loss chart."""
    plot = chart(
        height=290,
        min_border_left=64,
        x_axis_label="steps",
        y_axis_label="loss (nats per graded position)",
        x_range=(0, 1000),
        y_range=(0, 8),
    )
    seen, tested = ColumnDataSource(training(())), ColumnDataSource(held_out(()))
    noticed, around = ColumnDataSource(marks((), ())), ColumnDataSource(band((), ()))
    run = {"name": "run"}
    recorded = plot.line(
        "step", "loss", source=ColumnDataSource(RUN.columns), color=GREY, alpha=0.6, line_width=2.2, line_dash="dotted"
    )
    plot.vspan(x="step", source=noticed, line_color=PURPLE, line_alpha=0.7, line_width=1.4, name="mark")
    plot.varea(x="step", y1="low", y2="high", source=around, fill_color=VERMILION, fill_alpha=0.18, **run)
    plot.line("step", "loss", source=seen, color=BLUE, alpha=0.7, line_width=1.2, **run)
    name = Label(x=500, y=RUN.held_out[20], y_offset=8, text=RUN.name, text_color=GREY, text_font_size="13px")
    plot.add_layout(name)
    tested_line = plot.line("step", "loss", source=tested, color=VERMILION, line_width=2.2, **run)
    dots = plot.scatter("step", "loss", source=tested, color=VERMILION, size=6, **run)
    plot.add_tools(
        HoverTool(renderers=[dots, tested_line], tooltips=[("step", "@step"), ("held out", "@loss{0.000} nats")])
    )
    unigram = Span(location=0, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4, visible=False)
    bound = Span(location=0, dimension="width", line_color=GREEN, line_dash="dotted", line_width=1.6, visible=False)
    plot.add_layout(unigram)
    plot.add_layout(bound)
    return LossChart(plot, seen, tested, noticed, around, unigram, bound, recorded, name)
