"""How much a strategy gets right against the number of labelled texts: the picture of what pre-training is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool
from bokeh.plotting import figure

from widgets.theme import chart
from widgets.views.courses import Steps, banded, lines, style

ROOM = 1.18
"""How far the axis goes beyond the fewest and the most labelled texts, as a factor."""


def marks(values: Mapping[str, Steps]) -> dict[str, list]:
    """One row for every seed of every strategy at every number of labelled texts."""
    rows = [
        (name, labels, value, style(index)[0])
        for index, (name, steps) in enumerate(values.items())
        for labels, some in steps.items()
        for value in some
    ]
    names = ("name", "labels", "value", "colour")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def means(values: Mapping[str, Steps]) -> dict[str, list]:
    """One row for the mean of every strategy at every number of labelled texts."""
    single = {name: {labels: [fmean(some)] for labels, some in steps.items()} for name, steps in values.items()}
    return marks(single)


@dataclass(frozen=True)
class LabelCurve:
    """A figure with a band, a line and a dot for every seed of each strategy, over a scale that doubles."""

    figure: figure
    lines: ColumnDataSource
    means: ColumnDataSource
    seeds: ColumnDataSource

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw everything so far."""
        self.lines.data, self.means.data, self.seeds.data = lines(values, 1.0), means(values), marks(values)
        if counts := sorted(set(self.seeds.data["labels"])):
            self.figure.xaxis[0].ticker = FixedTicker(ticks=counts)
            self.figure.x_range.update(start=counts[0] / ROOM, end=counts[-1] * ROOM)


def label_curve() -> LabelCurve:
    """An empty figure."""
    plot = chart(
        height=330, title="What labels are worth: unseen texts against labelled ones", x_axis_type="log",
        x_axis_label="labelled texts", y_axis_label="accuracy", x_range=(12, 600),
    )  # fmt: skip
    plot.title.text_font_size = "15px"
    plot.xaxis.ticker = FixedTicker(ticks=[16, 64, 256])
    plot.xaxis.major_label_overrides = {count: str(count) for count in range(1, 1025)}
    drawn, middles, seeds = (ColumnDataSource(make({})) for make in (lines, means, marks))
    banded(plot, drawn, alpha=0.17, width=3)
    plot.scatter("labels", "value", source=seeds, size=5, color="colour", alpha=0.45, line_alpha=0)
    dots = plot.scatter("labels", "value", source=middles, size=9, color="colour")
    shown = [("strategy", "@name"), ("labelled texts", "@labels"), ("mean", "@value{0.000}")]
    plot.add_tools(HoverTool(renderers=[dots], tooltips=shown))
    return LabelCurve(plot, drawn, middles, seeds)


def said(points: Sequence[dict[str, Any]]) -> list[str]:
    """What the curve says in words: of each strategy the largest gap to the first that is no noise, or that none is."""
    gaps = [(point["labels"], gap) for point in points for gap in point["against_first"]]
    names = dict.fromkeys(gap["name"] for _, gap in gaps)
    return [_largest(name, [(labels, gap) for labels, gap in gaps if gap["name"] == name]) for name in names]


def _largest(name: str, gaps: Sequence[tuple[int, dict[str, Any]]]) -> str:
    first = gaps[0][1]["against"]
    sure = [(labels, gap) for labels, gap in gaps if gap["larger"]]
    if not sure:
        return f"{name} against {first}: within the noise at every number of labelled texts."
    labels, gap = max(sure, key=lambda pair: abs(pair[1]["difference"]))
    return (
        f"{name} against {first}: {gap['difference']:+.3f} at {labels} labelled texts "
        f"({gap['low']:+.3f} to {gap['high']:+.3f}), the largest of {len(sure)} of {len(gaps)} gaps beyond the noise."
    )
