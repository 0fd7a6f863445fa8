"""Loss over steps: training, held out, and the two levels that it lies between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool, Label, Span
from bokeh.plotting import figure

from playground.training.curve import CurvePoint
from widgets.charts import columns
from widgets.charts.chart import append
from widgets.charts.columns import ticks
from widgets.charts.legend import Mark, key
from widgets.charts.reference_run import EVERY, Recorded
from widgets.design_tokens import GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from widgets.theme import chart

OTHERS = (ORANGE, SKY, PURPLE, GREEN)
"""Colours of the losses of further questions; of more than these only the numbers are shown."""

MOST_STEPS = 20_000
"""Steps of training that are drawn; of a longer run the last ones."""


@dataclass(frozen=True)
class QuestionLoss:
    """The training and the held-out loss of a question; the first source is called after it, "" where it is alone."""

    training: ColumnDataSource
    held_out: ColumnDataSource
    colour: str

    def show(self, rows: Sequence[CurvePoint], target: str | None) -> None:
        """Draw this question and no other, or nothing."""
        self.training.name, name = target, target or ""
        rows = () if target is None else rows
        self.training.data, self.held_out.data = columns.training(rows, name), columns.held_out(rows, name)

    def extend(self, rows: Sequence[CurvePoint]) -> None:
        """Append the new rows."""
        if (target := self.training.name) is not None:
            append(self.training, columns.training(rows, target), MOST_STEPS)
            append(self.held_out, columns.held_out(rows, target))


@dataclass(frozen=True)
class LossChart:
    """The figure and the sources that grow while a model trains; a sum of objectives has several `questions`."""

    figure: figure
    questions: list[QuestionLoss]
    marks: ColumnDataSource
    phases: ColumnDataSource
    band: ColumnDataSource
    unigram: Span
    bound: Span
    moment: Span
    recorded: GlyphRenderer
    name: Label

    def show(self, rows: Sequence[CurvePoint], units: Mapping[str, str]) -> None:
        """Draw these rows and no others; `units` are those of the losses by question, the first one first."""
        first, *beside = units or ("",)
        self.figure.yaxis.axis_label = columns.loss_label(units.values() or ["nats"])
        names = [first if beside else "", *beside]
        self.marks.data, self.band.data = columns.marks((), ()), columns.band((), ())
        self.phases.data = columns.phases((), ())
        for colour in OTHERS[len(self.questions) - 1 : len(beside)]:
            self.questions.append(_lines(self.figure, colour, colour, "square", self._axis)[0])
        for question, target in zip_longest(self.questions, names[: len(self.questions)]):
            question.show(rows, target)

    def extend(self, rows: Sequence[CurvePoint]) -> None:
        """Append the new rows; what is drawn stays."""
        for question in self.questions:
            question.extend(rows)

    def show_recorded(self, run: Recorded | None) -> None:
        """Show a recorded run, which is known over steps alone, as long as there are no other rows."""
        first = self.questions[0]
        empty = not len(first.training.data["step"]) and not len(first.held_out.data["step"])
        self.recorded.visible = self.name.visible = run is not None and empty and self._axis == "step"
        if run is None or not self.recorded.visible:
            return
        at = [EVERY * k for k in range(len(run.held_out))]
        self.recorded.data_source.data = {"x": at, "y": list(run.held_out)}
        self.name.update(x=at[-1], y=run.held_out[len(at) // 2], text=run.title)
        self.figure.x_range.end, self.figure.y_range.end = at[-1], 1.05 * max(run.held_out)
        self.figure.yaxis.axis_label = columns.loss_label([run.unit])

    def over(self, axis: str) -> None:
        """Draw the same rows over another axis."""
        for renderer in self.figure.renderers:
            if renderer.name in ("run", "mark"):
                renderer.glyph.x = columns.AXES[axis]
        self.figure.xaxis.axis_label = f"{axis} (estimate)" if axis in columns.ESTIMATED else axis

    def reach(self, last: CurvePoint | None, steps: int | None) -> float:
        """Where the axis ends: where the run will be at its last step, if it goes on as it did."""
        total = steps or max(100, last.step if last else 0)
        if self._axis == "step":
            return total
        ahead = getattr(last, self._axis) * total / last.step if last and last.step else 0.0
        unit = 10 ** max(0, len(str(int(ahead))) - 2)
        return -(-ahead // unit) * unit if ahead > 1 else 1.0

    def highest(self, unigram: float | None) -> float:
        """Where the axis of the loss ends: it holds every held-out curve and the band."""
        whole = (question.held_out.data["loss"] for question in self.questions)
        return columns.highest_loss(unigram, self.questions[0].training.data["loss"], *whole, self.band.data["high"])

    def limits(self, end: float, unigram: float | None, bound: float | None) -> None:
        """Draw the loss by word frequency alone and, where known, the lowest possible one; fix the axes."""
        top = self.highest(unigram)
        self.figure.x_range.end, self.figure.y_range.end = end, top
        self.phases.data = dict(self.phases.data) | {"top": [top] * len(self.phases.data["step"])}
        self.figure.xaxis[0].ticker, self.figure.yaxis[0].ticker = ticks(0, end, 6), ticks(0, top)
        self.unigram.update(location=unigram or 0, visible=unigram is not None)
        self.bound.update(location=bound or 0, visible=bound is not None)

    @property
    def _axis(self) -> str:
        """What the rows are drawn over."""
        return next(r.glyph.x for r in self.figure.renderers if r.name == "run")

    @property
    def key(self) -> str:
        """What is drawn now."""
        known = [mark for mark, span in zip(columns.LEVELS, (self.unigram, self.bound), strict=True) if span.visible]
        bookmarks = [Mark("attention pattern detected", PURPLE, width=1.4)] if len(self.marks.data["step"]) else []
        seeds = [Mark("all seeds, ± a standard deviation", VERMILION, width=6)] if len(self.band.data["low"]) else []
        first, *others = self.questions
        name = f": {first.training.name}" if first.training.name else ""
        lines = [replace(line, name=f"{line.name}{name}") for line in columns.LINES]
        beside = [Mark(o.training.name, o.colour, shape="square") for o in others if len(o.training.data["loss"])]
        return key([*lines, *beside, *seeds, *known, *bookmarks])


def loss_chart() -> LossChart:
    """An empty loss chart."""
    plot = chart(
        height=228, min_border_left=64, x_axis_label="steps", y_axis_label=columns.loss_label(["nats"]),
        x_range=(0, 1000), y_range=(0, 8),
    )  # fmt: skip
    noticed, around = ColumnDataSource(columns.marks((), ())), ColumnDataSource(columns.band((), ()))
    begun = ColumnDataSource(columns.phases((), ()))
    recorded = plot.line([], [], color=GREY, alpha=0.6, line_width=2.2, line_dash="dotted", visible=False)
    name = Label(
        x=0, y=0, y_offset=14, text="", text_align="right", text_color=GREY, text_font_size="13px", visible=False
    )
    plot.vspan(x="step", source=noticed, line_color=PURPLE, line_alpha=0.7, line_width=1.4, name="mark")
    plot.vspan(x="step", source=begun, line_color=GREY, line_dash="dashed", name="mark")
    plot.text(
        "step", "top", "name", source=begun, x_offset=5, y_offset=4, text_color=GREY, text_font_size="13px",
        text_baseline="top", name="mark",
    )  # fmt: skip
    plot.varea("step", "low", "high", source=around, fill_color=VERMILION, fill_alpha=0.18, name="run")
    first, drawn = _lines(plot, *(line.colour for line in columns.LINES), "circle")
    plot.add_tools(HoverTool(renderers=drawn, tooltips=[("step", "@step"), ("held out", "@loss{0.000}")]))
    unigram, bound = (
        Span(location=0, dimension="width", line_color=m.colour, line_dash=m.dash, line_width=m.width, visible=False)
        for m in columns.LEVELS
    )
    moment = Span(location=0, dimension="height", line_color=ORANGE, line_width=3, line_alpha=0.8, visible=False)
    for part in (name, unigram, bound, moment):
        plot.add_layout(part)
    return LossChart(plot, [first], noticed, begun, around, unigram, bound, moment, recorded, name)


def _lines(plot: figure, thin: str, bold: str, marker: str, over: str = "step") -> tuple[QuestionLoss, list[Any]]:
    """The training loss in a thin line, the held-out loss in a bold one with dots, which are given back too."""
    seen, tested = (ColumnDataSource(columns.training(()), name="") for _ in range(2))
    plot.line(over, "loss", source=seen, color=thin, alpha=0.7, line_width=1.2, name="run")
    line = plot.line(over, "loss", source=tested, color=bold, line_width=2.2, name="run")
    dots = plot.scatter(over, "loss", source=tested, color=bold, size=6, marker=marker, name="run")
    return QuestionLoss(seen, tested, bold), [dots, line]
