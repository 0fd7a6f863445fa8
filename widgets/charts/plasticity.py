"""The plasticity plan as a heat map: which layer group may change in which step, as the optimiser used it."""

from collections.abc import Callable
from math import ceil, floor

from bokeh.events import SelectionGeometry, Tap
from bokeh.models import BoxSelectTool, LinearColorMapper
from bokeh.plotting import figure
from torch import Tensor, zeros

from widgets.charts.chart import Chart
from widgets.charts.columns import Columns, shares
from widgets.design_tokens import BLUES
from widgets.theme import chart

Region = tuple[int, int, int, int]
"""Lowest and highest row from 0, first and last step from 1, all included."""


def cells(_: tuple[str, ...], plan: Tensor) -> Columns:
    """One image of a plan `[g, s]`, the lowest group at the bottom; full colour is the full rate, empty is frozen."""
    number, steps = plan.shape
    return {"image": [(shares(plan) * 255).byte().numpy()], "width": [steps], "height": [number]}


def paintable(painted: Callable[[Region], None]) -> Chart:
    """A heat map that hands over the region that was dragged over, or the cell that was clicked."""
    plot = chart(height=190, x_axis_label="step", x_range=(0, 80), y_range=(0, 4))
    plot.grid.visible = False
    made = Chart.of(plot, (), zeros(4, 80), fit=_fit, cells=cells)
    mapper = LinearColorMapper(palette=BLUES, low=0, high=255)
    plot.image("image", x=0, y=0, dw="width", dh="height", source=made.sources["cells"], color_mapper=mapper)
    box = BoxSelectTool(persistent=False)
    plot.add_tools(box)
    plot.toolbar.active_drag = box
    plot.on_event(SelectionGeometry, lambda event: painted(region(event.geometry)))
    plot.on_event(Tap, lambda event: painted(region({"x0": event.x, "x1": event.x, "y0": event.y, "y1": event.y})))
    return made


def _fit(plot: figure, groups: tuple[str, ...], plan: Tensor) -> None:
    """The names of the groups up the side, a cell for each group and step."""
    middles = [i + 0.5 for i in range(len(groups))]
    plot.yaxis[0].update(ticker=middles, major_label_overrides=dict(zip(middles, groups, strict=True)))
    plot.x_range.end, plot.y_range.end = plan.shape[1], plan.shape[0]


def region(geometry: dict[str, float]) -> Region:
    """The rows and steps under a rectangle; one edge that only touches a cell does not count."""
    left, right = sorted((geometry["x0"], geometry["x1"]))
    low, high = sorted((geometry["y0"], geometry["y1"]))
    first, lowest = floor(left) + 1, floor(low)
    return lowest, max(lowest, ceil(high) - 1), first, max(first, ceil(right))
