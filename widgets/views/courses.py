"""Strategies over the steps: the mean of all seeds as a line, one standard deviation as a band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, stdev

from bokeh.models import ColumnDataSource, GlyphRenderer, HoverTool, Span
from bokeh.plotting import figure

from widgets.comparing import Course
from widgets.theme import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, chart
from widgets.views.key import Mark, key

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, GREY)
DASHES = ("solid", "dashed", "dotted")
Steps = Mapping[int, Sequence[float]]


def style(index: int) -> tuple[str, str]:
    """Colour and dash of the n-th strategy; after seven the colours come again with another dash."""
    return COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]


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
    }


def banded(plot: figure, source: ColumnDataSource, alpha: float = 0.16, width: float = 2.2) -> GlyphRenderer:
    """Draw what `lines` says: a band for each row and the line in it, which is given back."""
    plot.patches("around", "band", source=source, color="colour", alpha=alpha, line_alpha=0)
    return plot.multi_line("xs", "ys", source=source, color="colour", line_dash="dash", line_width=width)


@dataclass(frozen=True)
class CourseChart:
    """A figure with a line and a band for every strategy."""

    figure: figure
    source: ColumnDataSource
    most: float = inf

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw everything so far."""
        self.source.data = lines(values, self.most)


def course_chart(title: str, axis: str, across: str = "step", zero: bool = False, most: float = inf) -> CourseChart:
    """An empty chart; `zero` draws the line at nothing, `most` is the highest value there can be."""
    plot = chart(height=210, title=title, x_axis_label=across, y_axis_label=axis)
    source = ColumnDataSource(lines({}))
    drawn = banded(plot, source)
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[("strategy", "@name"), ("value", "$y{0.000}")]))
    if zero:
        plot.add_layout(Span(location=0, dimension="width", line_color=GREY, line_width=1))
    return CourseChart(plot, source, most)


def over_steps(courses: Mapping[str, Course], what: str) -> dict[str, dict[int, list[float]]]:
    """Loss, accuracy or forgetting of every strategy over the steps."""
    return {name: course.values(what) for name, course in courses.items()}


def legend(names: Sequence[str], running: Sequence[str] = ()) -> str:
    """The strategies with their colours and dashes, one legend for all charts; those that run are marked."""
    marks = [(f"{name} · running" if name in running else name, *style(index)) for index, name in enumerate(names)]
    return key([Mark(*mark, width=3) for mark in marks])
