"""Loss over steps: training, held out, and the two lines it lies between."""

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, HoverTool, Span
from bokeh.plotting import figure

from playground.training.session import Row
from widgets.theme import BLUE, GREEN, GREY, VERMILION, chart

Columns = dict[str, list[float]]


def training(rows: Sequence[Row]) -> Columns:
    """The training loss of every step, in nats per graded position."""
    kept = [r for r in rows if r.loss is not None]
    return {"step": [r.step for r in kept], "loss": [r.loss for r in kept]}  # type: ignore[misc]


def held_out(rows: Sequence[Row]) -> Columns:
    """The held-out loss of every evaluation, in nats per graded position."""
    kept = [r for r in rows if r.held_out is not None]
    return {"step": [r.step for r in kept], "loss": [r.held_out for r in kept]}  # type: ignore[misc]


@dataclass(frozen=True)
class LossChart:
    """The figure and the sources that grow while a model trains."""

    figure: figure
    training: ColumnDataSource
    held_out: ColumnDataSource
    unigram: Span
    bound: Span

    def extend(self, rows: Sequence[Row]) -> None:
        """Append the new rows; what is drawn stays."""
        self.training.stream(training(rows), rollover=20_000)
        self.held_out.stream(held_out(rows))

    def clear(self) -> None:
        """An empty chart for a new run."""
        self.training.data = training(())
        self.held_out.data = held_out(())

    def limits(self, steps: int | None, unigram: float | None, bound: float | None) -> None:
        """Draw what guessing by frequency alone would cost and, where known, the best possible; fix the axes."""
        self.figure.x_range.end = steps or max(100, *self.held_out.data["step"], 0)
        self.figure.y_range.end = round(1.6 * unigram, 1) if unigram else 8
        self.unigram.update(location=unigram or 0, visible=unigram is not None)
        self.bound.update(location=bound or 0, visible=bound is not None)


def loss_chart() -> LossChart:
    """An empty loss chart."""
    plot = chart(
        height=290,
        x_axis_label="step",
        y_axis_label="loss (nats per graded position)",
        x_range=(0, 1000),
        y_range=(0, 8),
    )
    seen, tested = ColumnDataSource(training(())), ColumnDataSource(held_out(()))
    plot.line("step", "loss", source=seen, color=BLUE, alpha=0.7, line_width=1.2, legend_label="training")
    tested_line = plot.line("step", "loss", source=tested, color=VERMILION, line_width=2.2, legend_label="held out")
    dots = plot.scatter("step", "loss", source=tested, color=VERMILION, size=6, legend_label="held out")
    plot.add_tools(
        HoverTool(renderers=[dots, tested_line], tooltips=[("step", "@step"), ("held out", "@loss{0.000} nats")])
    )
    unigram = Span(location=0, dimension="width", line_color=GREY, line_dash="dashed", line_width=1.4, visible=False)
    bound = Span(location=0, dimension="width", line_color=GREEN, line_dash="dotted", line_width=1.6, visible=False)
    plot.add_layout(unigram)
    plot.add_layout(bound)
    plot.line([-2, -1], [-2, -1], color=GREY, line_dash="dashed", line_width=1.4, legend_label="frequencies alone")
    plot.line(
        [-2, -1], [-2, -1], color=GREEN, line_dash="dotted", line_width=1.6, legend_label="best possible, left to right"
    )
    plot.legend.background_fill_alpha = 0
    plot.legend.border_line_alpha = 0
    plot.legend.label_text_font_size = "11px"
    plot.legend.orientation = "horizontal"
    plot.legend.padding = 0
    plot.add_layout(plot.legend[0], "above")
    return LossChart(plot, seen, tested, unigram, bound)
