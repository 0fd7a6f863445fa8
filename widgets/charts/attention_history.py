"""A film strip: one attention head at some moments of its training, the earliest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LinearColorMapper
from bokeh.plotting import figure

from playground.analysis.predictions import Predictions
from widgets.theme import BLUES, GREY, ORANGE, chart

ACROSS = 7
"""Frames beside each other."""

FRAME, CAPTION = 0.92, 0.26
"""Side of a frame, and room for the step below it, in places of the strip."""

Moment = tuple[int, Predictions]


def frames(film: Sequence[Moment], matrix: str, layer: int, head: int, marked: int | None) -> dict[str, list[Any]]:
    """One row per moment: its picture, where it stands in the strip, and whether it is marked."""
    found: dict[str, list[Any]] = {key: [] for key in ("image", "x", "y", "step", "said", "line", "alpha", "weight")}
    for number, (step, glance) in enumerate(film):
        layers = glance.weights[matrix if matrix in glance.weights else next(iter(glance.weights))]
        cells = layers[min(layer, len(layers) - 1)][min(head, layers.shape[1] - 1)].numpy()
        row, column = divmod(number, ACROSS)
        values = {
            "image": np.flipud(cells), "x": column, "y": -row * (1 + CAPTION), "step": step, "said": f"{step:,}",
            "line": 3.0 if step == marked else 1.0, "alpha": 1.0 if step == marked else 0.25,
            "weight": int(cells.max()) / 255,
        }  # fmt: skip
        for key, value in values.items():
            found[key].append(value)
    return found


@dataclass(frozen=True)
class FilmStrip:
    """The figure and its frames."""

    figure: figure
    source: ColumnDataSource

    def show(self, film: Sequence[Moment], matrix: str, layer: int, head: int, marked: int | None) -> None:
        """Draw the strip anew; it is drawn at most a score of times in a run."""
        rows = max(1, -(-len(film) // ACROSS))
        self.source.data = frames(film, matrix, layer, head, marked)
        self.figure.height = 94 * rows
        self.figure.y_range.update(start=-(rows - 1) * (1 + CAPTION) - CAPTION - 0.04, end=1.02)


def film_strip() -> FilmStrip:
    """An empty strip."""
    plot = chart(height=94, x_range=(-0.04, ACROSS), y_range=(-CAPTION - 0.04, 1.02), min_border=0, min_border_right=0)
    plot.axis.visible = False
    plot.grid.visible = False
    source = ColumnDataSource(frames((), "", 0, 0, None))
    mapper = LinearColorMapper(palette=list(BLUES), low=0, high=255)
    plot.image("image", x="x", y="y", dw=FRAME, dh=1, source=source, color_mapper=mapper)
    boxes = plot.block(
        x="x", y="y", width=FRAME, height=1, source=source, fill_alpha=0, line_color=ORANGE, line_width="line",
        line_alpha="alpha",
    )  # fmt: skip
    plot.text(
        x="x", y="y", text="said", x_offset=1, y_offset=3, source=source, text_baseline="top", text_color=GREY,
        text_font_size="11px",
    )  # fmt: skip
    plot.add_tools(HoverTool(renderers=[boxes], tooltips=[("step", "@step"), ("darkest cell", "@weight{0.00}")]))
    return FilmStrip(plot, source)
