"""Loss over steps: training, held out, and the two lines it lies between."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool, Label, Span
from bokeh.plotting import figure

from playground.training.parallel.seeds import Band
from playground.training.session import Row
from widgets.charts.legend import Mark, key
from widgets.charts.reference_run import RUN
from widgets.charts.stream import append
from widgets.theme import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, chart

Columns = dict[str, list[float]]

AXES = {
    "steps": "step",
    "tokens read": "tokens",
    "scored answers": "graded",
    "operations": "flops",
    "seconds": "seconds",
}
"""What the loss may be drawn over, by the name on the page."""

ESTIMATED = {
    "operations": "Operations are an estimate: counted in the first batch, told by their positions for others."
}
"""What has to be said of an axis."""


def training(rows: Sequence[Row]) -> Columns:
    """The training loss of every step, in nats per scored position, and every axis it may be drawn over."""
    return _columns([r for r in rows if r.loss is not None], "loss")


def held_out(rows: Sequence[Row]) -> Columns:
    """The held-out loss of every evaluation, in nats per scored position, and every axis it may be drawn over."""
    return _columns([r for r in rows if r.held_out is not None], "held_out")


def other_loss(rows: Sequence[Row], question: str, evaluated: bool) -> Columns:
    """The loss of a question beside the first, of every step or of every evaluation."""
    known = [(row, dict(row.more)) for row in rows if (row.loss is None) == evaluated]
    return _columns([replace(row, loss=more[question]) for row, more in known if question in more], "loss")


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
class OtherLoss:
    """The training and the held-out loss of one more question of a sum; the sources are called after it."""

    training: ColumnDataSource
    held_out: ColumnDataSource
    colour: str

    @property
    def question(self) -> str:
        return self.training.name or ""

    def show(self, rows: Sequence[Row], question: str) -> None:
        """Draw this question and no other."""
        self.training.name = question
        self.training.data = other_loss(rows, question, evaluated=False)
        self.held_out.data = other_loss(rows, question, evaluated=True)

    def extend(self, rows: Sequence[Row]) -> None:
        """Append the new rows."""
        if self.question:
            append(self.training, other_loss(rows, self.question, evaluated=False), rollover=20_000)
            append(self.held_out, other_loss(rows, self.question, evaluated=True))


@dataclass(frozen=True)
class LossChart:
    """The figure and the sources that grow while a model trains; a sum of objectives has `others` beside the first."""

    figure: figure
    training: ColumnDataSource
    held_out: ColumnDataSource
    marks: ColumnDataSource
    band: ColumnDataSource
    unigram: Span
    bound: Span
    recorded: GlyphRenderer
    name: Label
    others: tuple[OtherLoss, ...] = ()

    def show(self, rows: Sequence[Row], questions: Sequence[str] = ()) -> None:
        """Draw these rows and no others; `questions` names what the losses are of, the first one first."""
        self._give_way(rows)
        self.training.data, self.held_out.data, self.marks.data = training(rows), held_out(rows), marks((), ())
        self.band.data = band((), ())
        first, *beside = questions or ("",)
        self.training.name = first if beside else ""
        for other, question in zip_longest(self.others, beside[: len(self.others)], fillvalue=""):
            other.show(rows, question)

    def extend(self, rows: Sequence[Row]) -> None:
        """Append the new rows; what is drawn stays."""
        self._give_way(rows)
        append(self.training, training(rows), rollover=20_000)
        append(self.held_out, held_out(rows))
        for other in self.others:
            other.extend(rows)

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
        self.figure.y_range.end = round(1.6 * unigram, 1) if unigram else self._highest
        self.unigram.update(location=unigram or 0, visible=unigram is not None)
        self.bound.update(location=bound or 0, visible=bound is not None)

    @property
    def _highest(self) -> float:
        """Where the losses end that no frequency of words is a level for: well above where they began."""
        began = [loss for some in (self.training, self.held_out) for loss in list(some.data["loss"])[:1]]
        return round(1.6 * max(began), 1) if began and max(began) > 0 else 8

    @property
    def key(self) -> str:
        """What is drawn now."""
        levels = (
            (self.unigram, Mark("unigram baseline", GREY, "dashed", width=1.4)),
            (self.bound, Mark("entropy bound (autoregressive)", GREEN, "dotted", width=1.6)),
        )
        bookmarks = [Mark("attention pattern detected", PURPLE, width=1.4)] if len(self.marks.data["step"]) else []
        seeds = [Mark("all seeds, ± a standard deviation", VERMILION, width=6)] if len(self.band.data["low"]) else []
        first = f": {self.training.name}" if self.training.name else ""
        lines = [replace(line, name=f"{line.name}{first}") for line in LINES]
        beside = [Mark(o.question, o.colour, shape="square") for o in self.others if len(o.training.data["loss"])]
        return key([*lines, *beside, *seeds, *(mark for span, mark in levels if span.visible), *bookmarks])


OTHERS = (ORANGE, SKY, PURPLE, GREEN)
"""Colours of the losses of further questions; of more than these only the numbers are told."""

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
        y_axis_label="loss (nats per scored position)",
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
    others = tuple(_other_loss(plot, colour) for colour in OTHERS)
    tested_line = plot.line("step", "loss", source=tested, color=VERMILION, line_width=2.2, **run)
    dots = plot.scatter("step", "loss", source=tested, color=VERMILION, size=6, **run)
    plot.add_tools(
        HoverTool(renderers=[dots, tested_line], tooltips=[("step", "@step"), ("held out", "@loss{0.000} nats")])
    )
    unigram = Span(location=0, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4, visible=False)
    bound = Span(location=0, dimension="width", line_color=GREEN, line_dash="dotted", line_width=1.6, visible=False)
    plot.add_layout(unigram)
    plot.add_layout(bound)
    return LossChart(plot, seen, tested, noticed, around, unigram, bound, recorded, name, others)


def _other_loss(plot: figure, colour: str) -> OtherLoss:
    """Lines for one more question, with nothing in them yet."""
    seen, tested = (ColumnDataSource(training(()), name="") for _ in range(2))
    plot.line("step", "loss", source=seen, color=colour, alpha=0.6, line_width=1.2, name="run")
    plot.line("step", "loss", source=tested, color=colour, line_width=2.2, name="run")
    plot.scatter("step", "loss", source=tested, color=colour, size=6, marker="square", name="run")
    return OtherLoss(seen, tested, colour)
