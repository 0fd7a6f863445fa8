"""Strategies over the steps: the mean of all seeds as a line with its marks, one standard deviation as a band."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from statistics import fmean, stdev

from bokeh.models import HoverTool, Span
from bokeh.plotting import figure

from widgets.charts.chart import Chart
from widgets.charts.columns import Columns, columns_of
from widgets.charts.legend import Mark, key, shape, style
from widgets.design_tokens import GREY
from widgets.theme import chart

FEW = 6
"""Bands that may lie over each other before they are drawn fainter."""

Steps = Mapping[int, Sequence[float]]


def lines(values: Mapping[str, Steps], most: float = inf, dash: str = "") -> Columns:
    """One row per strategy that has a value: where its line and its band run; no band goes beyond `most`.

    With a `dash` all lines have that one.
    """
    looks = [(colour, dash or own) for colour, own in map(style, range(len(values)))]
    rows = [(name, *looks[index], steps) for index, (name, steps) in enumerate(values.items()) if steps]
    shade = 0.16 if len(rows) <= FEW else 0.07
    names = ("name", "xs", "ys", "around", "band", "colour", "dash", "shade")
    return columns_of(
        names, [(name, *_outline(steps, most), colour, dash, shade) for name, colour, dash, steps in rows]
    )


def _outline(steps: Steps, most: float) -> tuple[list[int], list[float], list[int], list[float]]:
    """The line through the means, and the outline of the band around it: below forwards, above backwards."""
    mean = [fmean(some) for some in steps.values()]
    noise = [stdev(some) if len(some) > 1 else 0.0 for some in steps.values()]
    low = [m - s for m, s in zip(mean, noise, strict=True)]
    high = [min(most, m + s) for m, s in zip(mean, noise, strict=True)]
    return [*steps], mean, [*steps, *[*steps][::-1]], low + high[::-1]


def marks(values: Mapping[str, Steps], across: str) -> Columns:
    """One row for every seed of every strategy at every place; `across` names what the places are, such as "step"."""
    rows = [
        (name, position, value, style(index)[0], shape(index))
        for index, (name, steps) in enumerate(values.items())
        for position, some in steps.items()
        for value in some
    ]
    return columns_of(("name", across, "value", "colour", "shape"), rows)


def means(values: Mapping[str, Steps], across: str) -> Columns:
    """One row for the mean of every strategy at every place."""
    single = {name: {position: [fmean(some)] for position, some in steps.items()} for name, steps in values.items()}
    return marks(single, across)


def banded(
    plot: figure, across: str, hover: Sequence[tuple[str, str]], most: float = inf, width: float = 2.2, size: int = 6,
    mode: str = "mouse", seeds: bool = False, dash: str = "",
) -> Chart:  # fmt: skip
    """A band and a line for every strategy and a dot at every mean, which the pointer reads; with `seeds` all dots.

    With a `dash` all lines have that one.
    """
    each = {"seeds": partial(marks, across=across)} if seeds else {}
    made = Chart.of(plot, {}, lines=partial(lines, most=most, dash=dash), means=partial(means, across=across), **each)
    drawn = made.sources["lines"]
    plot.patches("around", "band", source=drawn, color="colour", fill_alpha="shade", line_alpha=0)
    line = plot.multi_line(
        "xs", "ys", source=drawn, color="colour", line_dash="dash", line_width=width, hover_line_color="colour",
        hover_line_width=2.4 * width,
    )  # fmt: skip
    dots = plot.scatter(across, "value", source=made.sources["means"], marker="shape", size=size, color="colour")
    for one in each:
        look = {"size": 5, "color": "colour", "alpha": 0.45, "line_alpha": 0, "level": "underlay"}
        plot.scatter(across, "value", source=made.sources[one], marker="shape", **look)
    plot.add_tools(HoverTool(renderers=[line], tooltips=None))
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[*hover], mode=mode))
    return made


def course_chart(
    title: str, axis: str, across: str = "step", zero: bool = False, most: float = inf, what: str = "strategy"
) -> Chart:
    """An empty chart; `zero` draws the line at 0, `most` is the highest value there can be, `what` has a name."""
    plot = chart(height=230, title=title, x_axis_label=across, y_axis_label=axis)
    if zero:
        plot.add_layout(Span(location=0, dimension="width", line_color=GREY, line_width=1))
    hover = [(what, "@name"), (across, "@step"), ("mean", "@value{0.000}")]
    return banded(plot, "step", hover, most=most)


def legend(names: Sequence[str], running: Sequence[str] = ()) -> str:
    """The strategies with colour, dash and mark, one legend for all charts; those that run are said to."""
    said = [f"{name} · running" if name in running else name for name in names]
    return key([Mark(name, *style(index), shape=shape(index), width=3) for index, name in enumerate(said)])
