"""One attention head as a matrix: rows look, columns are looked at, strength is the weight."""

from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, LinearColorMapper
from bokeh.plotting import figure

from playground.analysis.predictions import Predictions
from widgets.theme import BLUES, chart


@dataclass(frozen=True)
class AttentionChart:
    """The figure and its one image; `show` draws another moment."""

    figure: figure
    source: ColumnDataSource
    mapper: LinearColorMapper

    def show(self, glance: Predictions, matrix: str, layer: int, head: int) -> float:
        """Draw one head of one layer as it was at the time of the glance; gives the weight that is drawn darkest."""
        name = matrix if matrix in glance.weights else next(iter(glance.weights))
        layers = glance.weights[name]
        cells = layers[min(layer, len(layers) - 1)][min(head, layers.shape[1] - 1)].numpy()
        number, width = cells.shape
        self.source.data = {"image": [np.flipud(cells)], "width": [width], "height": [number]}
        rows, columns = glance.rows[name], glance.columns[name]
        _label(self.figure.yaxis[0], [number - 1 - i for i in range(number)], rows)
        _label(self.figure.xaxis[0], list(range(width)), columns)
        if (self.figure.x_range.end, self.figure.y_range.end) != (width, number):
            self.figure.x_range.end, self.figure.y_range.end = width, number
        self.mapper.high = max(int(cells.max()), 1)
        return int(cells.max()) / 255


def _label(axis, places: list[int], names: tuple[str, ...]) -> None:
    middles = [p + 0.5 for p in places]
    labels = dict(zip(middles, names, strict=True))
    if axis.major_label_overrides != labels:
        axis.ticker.ticks = middles
        axis.major_label_overrides = labels


def attention_chart() -> AttentionChart:
    """An empty matrix."""
    plot = chart(height=330, x_axis_label="is looked at", y_axis_label="looks", x_range=(0, 8), y_range=(0, 8))
    plot.xaxis.update(ticker=FixedTicker(ticks=[]), major_label_orientation=0.8)
    plot.yaxis.ticker = FixedTicker(ticks=[])
    plot.grid.visible = False
    source = ColumnDataSource({"image": [np.zeros((8, 8), dtype=np.uint8)], "width": [8], "height": [8]})
    mapper = LinearColorMapper(palette=list(BLUES), low=0, high=255)
    plot.image("image", x=0, y=0, dw="width", dh="height", source=source, color_mapper=mapper)
    return AttentionChart(plot, source, mapper)
