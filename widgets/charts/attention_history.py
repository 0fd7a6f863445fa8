"""One attention head at some moments of its training, the earliest first."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import HoverTool, LinearColorMapper
from bokeh.plotting import figure

from playground.analysis.predictions import Predictions
from widgets.charts.attention import head_weights
from widgets.charts.chart import Chart
from widgets.charts.columns import Columns, columns_of
from widgets.design_tokens import BLUES, GREY, ORANGE
from widgets.theme import chart

ACROSS = 14
"""Frames for which there is room at first; more of them are narrower."""

HEIGHT = 86

FRAME, CAPTION = 0.92, 0.26
"""Side of a frame, and room for the step below it, in places of the strip."""

Moment = tuple[int, Predictions]


def frames(film: Sequence[Moment], matrix: str, layer: int, head: int, marked: int | None) -> Columns:
    """One row per moment: its picture, where it stands in the strip, and whether it is marked."""
    rows = []
    for number, (step, glance) in enumerate(film):
        _, cells = head_weights(glance, matrix, layer, head)
        line, alpha = (3.0, 1.0) if step == marked else (1.0, 0.25)
        caption, weight = f"{step:,}", int(cells.max()) / 255
        rows.append((np.flipud(cells), number, 0, step, caption, line, alpha, weight))
    return columns_of(("image", "x", "y", "step", "caption", "line", "alpha", "weight"), rows)


def film_strip() -> Chart:
    """An empty strip."""
    ranges = {"x_range": (-0.04, ACROSS), "y_range": (-CAPTION - 0.04, 1.02)}
    plot = chart(height=HEIGHT, min_border=0, min_border_right=0, name="film", **ranges)
    plot.axis.visible = False
    plot.grid.visible = False
    made = Chart.of(plot, (), "", 0, 0, None, fit=_fit, frames=frames)
    position = {"x": "x", "y": "y", "source": made.sources["frames"]}
    mapper = LinearColorMapper(palette=BLUES, low=0, high=255)
    plot.image("image", dw=FRAME, dh=1, color_mapper=mapper, **position)
    boxes = plot.block(
        width=FRAME, height=1, fill_alpha=0, line_color=ORANGE, line_width="line", line_alpha="alpha", **position
    )
    plot.text(
        text="caption", x_offset=1, y_offset=3, text_baseline="top", text_color=GREY, text_font_size="11px", **position
    )
    plot.add_tools(HoverTool(renderers=[boxes], tooltips=[("step", "@step"), ("highest weight", "@weight{0.00}")]))
    return made


def _fit(plot: figure, film: Sequence[Moment], *_: object) -> None:
    """All frames in one row."""
    plot.x_range.end = max(ACROSS, len(film))
