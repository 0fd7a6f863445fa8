"""The plasticity plan as a heat map: which layer group may change in which step, as the optimiser used it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from bokeh.events import SelectionGeometry, Tap
from bokeh.models import BoxSelectTool, ColumnDataSource, FixedTicker, LinearColorMapper, Span
from bokeh.plotting import figure
from torch import Tensor

from widgets.theme import BLUES, VERMILION, chart


@dataclass(frozen=True)
class PlanChart:
    """One strategy's heat map with a cursor that follows the lane."""

    figure: figure
    source: ColumnDataSource
    cursor: Span

    def show(self, groups: tuple[str, ...], plan: Tensor) -> None:
        """Draw a plan `[g, s]`, the lowest group at the bottom; full colour is the full rate, empty is frozen."""
        number, steps = plan.shape
        top = max(float(plan.max()), 1e-12)
        self.source.data = {"image": [(plan / top * 255).byte().numpy()], "width": [steps], "height": [number]}
        middles = [i + 0.5 for i in range(number)]
        self.figure.yaxis[0].ticker = FixedTicker(ticks=middles)
        self.figure.yaxis[0].major_label_overrides = dict(zip(middles, groups, strict=True))
        self.figure.x_range.end, self.figure.y_range.end = steps, number

    def at(self, step: int) -> None:
        """Move the cursor."""
        self.cursor.location = step


Region = tuple[int, int, int, int]
"""Lowest and highest row from 0, first and last step from 1, all included."""


def paintable(painted: Callable[[Region], None]) -> PlanChart:
    """A heat map that tells which region was dragged over, or which cell was clicked."""
    made = plan_chart("")
    made.cursor.visible = False
    box = BoxSelectTool(persistent=False)
    made.figure.add_tools(box)
    made.figure.toolbar.active_drag = box
    made.figure.on_event(SelectionGeometry, lambda event: painted(region(event.geometry)))
    made.figure.on_event(
        Tap, lambda event: painted(region({"x0": event.x, "x1": event.x, "y0": event.y, "y1": event.y}))
    )
    return made


def region(geometry: dict[str, float]) -> Region:
    """The rows and steps under a rectangle; one edge that only touches a cell does not count."""
    left, right = sorted((geometry["x0"], geometry["x1"]))
    low, high = sorted((geometry["y0"], geometry["y1"]))
    first, lowest = floor(left) + 1, floor(low)
    return lowest, max(lowest, ceil(high) - 1), first, max(first, ceil(right))


def plan_chart(title: str) -> PlanChart:
    """An empty heat map."""
    plot = chart(height=190, title=title, x_axis_label="step", x_range=(0, 80), y_range=(0, 4))
    plot.grid.visible = False
    source = ColumnDataSource({"image": [np.zeros((4, 80), dtype=np.uint8)], "width": [80], "height": [4]})
    mapper = LinearColorMapper(palette=list(BLUES), low=0, high=255)
    plot.image("image", x=0, y=0, dw="width", dh="height", source=source, color_mapper=mapper)
    cursor = Span(location=0, dimension="height", line_color=VERMILION, line_width=2)
    plot.add_layout(cursor)
    return PlanChart(plot, source, cursor)
