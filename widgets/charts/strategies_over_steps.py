"""Strategies over the steps: the mean of all seeds as a line with its marks, one standard deviation as a band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, stdev

from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool, Span
from bokeh.plotting import figure

from widgets.charts.legend import Mark, key
from widgets.state.transfer import Course
from widgets.theme import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, chart

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, GREY)
DASHES = ("solid", "dashed", "dotted")
SHAPES = ("circle", "square", "triangle", "diamond")
"""As many as share no factor with the colours, so that no two of 28 have both alike."""

FEW = 6
"""Bands that may lie over each other before they are drawn fainter."""

Steps = Mapping[int, Sequence[float]]


def style(index: int) -> tuple[str, str]:
    """Colour and dash of the n-th strategy; after seven the colours come again with another dash."""
    return COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]


def shape(index: int) -> str:
    """The mark of the n-th strategy, so that nobody needs to see colours to tell neighbours apart."""
    return SHAPES[index % len(SHAPES)]


def lines(values: Mapping[str, Steps], most: float = inf) -> dict[str, list]:
    """One row per strategy that has a value: where its line and its band run; no band goes beyond `most`."""
    rows = [(name, index, steps) for index, (name, steps) in enumerate(values.items()) if steps]
    means = [[fmean(some) for some in steps.values()] for _, _, steps in rows]
    noise = [[stdev(some) if len(some) > 1 else 0.0 for some in steps.values()] for _, _, steps in rows]
    bands = [
        [m - s for m, s in zip(mean, sd, strict=True)]
        + [min(most, m + s) for m, s in zip(mean[::-1], sd[::-1], strict=True)]
        for mean, sd in zip(means, noise, strict=True)
    ]
    return {
        "name": [name for name, _, _ in rows],
        "xs": [list(steps) for _, _, steps in rows],
        "ys": means,
        "around": [[*steps, *reversed(list(steps))] for _, _, steps in rows],
        "band": bands,
        "colour": [style(index)[0] for _, index, _ in rows],
        "dash": [style(index)[1] for _, index, _ in rows],
        "shade": [0.16 if len(rows) <= FEW else 0.07] * len(rows),
    }


def marks(values: Mapping[str, Steps], across: str) -> dict[str, list]:
    """One row for every seed of every strategy at every place; `across` names what the places are, such as "step"."""
    rows = [
        (name, place, value, style(index)[0], shape(index))
        for index, (name, steps) in enumerate(values.items())
        for place, some in steps.items()
        for value in some
    ]
    names = ("name", across, "value", "colour", "shape")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def means(values: Mapping[str, Steps], across: str) -> dict[str, list]:
    """One row for the mean of every strategy at every place."""
    single = {name: {place: [fmean(some)] for place, some in steps.items()} for name, steps in values.items()}
    return marks(single, across)


def banded(plot: figure, source: ColumnDataSource, width: float = 2.2) -> GlyphRenderer:
    """Draw what `lines` says: a band for each row and the line in it, which is given back."""
    plot.patches("around", "band", source=source, color="colour", fill_alpha="shade", line_alpha=0)
    return plot.multi_line(
        "xs", "ys", source=source, color="colour", line_dash="dash", line_width=width, hover_line_color="colour",
        hover_line_width=2.4 * width,
    )  # fmt: skip


@dataclass(frozen=True)
class CourseChart:
    """A figure with a line and a band for every strategy, and a mark wherever it was looked at."""

    figure: figure
    lines: ColumnDataSource
    means: ColumnDataSource
    most: float = inf

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw everything so far."""
        self.lines.data, self.means.data = lines(values, self.most), means(values, "step")


def course_chart(title: str, axis: str, across: str = "step", zero: bool = False, most: float = inf) -> CourseChart:
    """An empty chart; `zero` draws the line at nothing, `most` is the highest value there can be."""
    plot = chart(height=230, title=title, x_axis_label=across, y_axis_label=axis)
    drawn, middles = ColumnDataSource(lines({})), ColumnDataSource(means({}, "step"))
    line = banded(plot, drawn)
    dots = plot.scatter("step", "value", source=middles, marker="shape", size=6, color="colour")
    shown = [("strategy", "@name"), (across, "@step"), ("mean", "@value{0.000}")]
    plot.add_tools(HoverTool(renderers=[line], tooltips=None), HoverTool(renderers=[dots], tooltips=shown))
    if zero:
        plot.add_layout(Span(location=0, dimension="width", line_color=GREY, line_width=1))
    return CourseChart(plot, drawn, middles, most)


def over_steps(courses: Mapping[str, Course], what: str) -> dict[str, dict[int, list[float]]]:
    """Loss, accuracy or forgetting of every strategy over the steps."""
    return {name: course.values(what) for name, course in courses.items()}


def legend(names: Sequence[str], running: Sequence[str] = ()) -> str:
    """The strategies with colour, dash and mark, one legend for all charts; those that run are said to."""
    said = [f"{name} · running" if name in running else name for name in names]
    return key([Mark(name, *style(index), shape=shape(index), width=3) for index, name in enumerate(said)])
