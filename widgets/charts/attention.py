"""One attention head as a matrix: query positions down the side, key positions across, the weight as colour."""

from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.plotting import figure

from playground.analysis.predictions import Predictions
from widgets.design_tokens import BLUES
from widgets.theme import chart

HEIGHT = 228


def head_weights(glance: Predictions, matrix: str, layer: int, head: int) -> tuple[str, np.ndarray]:
    """The weights `[query, key]` of a head as bytes, after the name of their matrix.

    Where a model lacks the matrix it is the first one, where it lacks the layer or the head the last one.
    """
    name = matrix if matrix in glance.weights else next(iter(glance.weights))
    layers = glance.weights[name]
    return name, layers[min(layer, len(layers) - 1)][min(head, layers.shape[1] - 1)].numpy()


@dataclass(frozen=True)
class AttentionChart:
    """The figure and its one image."""

    figure: figure
    source: ColumnDataSource
    mapper: LinearColorMapper

    def show(self, glance: Predictions, matrix: str, layer: int, head: int) -> float:
        """Draw a head as it was at the step of the glance; returns the weight that is drawn darkest."""
        name, cells = head_weights(glance, matrix, layer, head)
        height, width = cells.shape
        self.source.data = {"image": [np.flipud(cells)], "width": [width], "height": [height]}
        _label(self.figure.yaxis[0], glance.rows[name][::-1])
        _label(self.figure.xaxis[0], glance.columns[name])
        if (self.figure.x_range.end, self.figure.y_range.end) != (width, height):
            self.figure.x_range.end, self.figure.y_range.end = width, height
        self.mapper.high = max(int(cells.max()), 1)
        return int(cells.max()) / 255


def _label(axis, names: tuple[str, ...]) -> None:
    labels = {position + 0.5: name for position, name in enumerate(names)}
    if axis.major_label_overrides != labels:
        axis.ticker.ticks = list(labels)
        axis.major_label_overrides = labels


def attention_chart() -> AttentionChart:
    """An empty matrix."""
    plot = chart(
        height=HEIGHT, x_axis_label="key position", y_axis_label="query position", x_range=(0, 8), y_range=(0, 8)
    )
    plot.axis.ticker = []
    plot.xaxis.major_label_orientation = 0.8
    plot.grid.visible = False
    source = ColumnDataSource({"image": [np.zeros((8, 8), dtype=np.uint8)], "width": [8], "height": [8]})
    mapper = LinearColorMapper(palette=BLUES, low=0, high=255)
    plot.image("image", x=0, y=0, dw="width", dh="height", source=source, color_mapper=mapper)
    return AttentionChart(plot, source, mapper)
