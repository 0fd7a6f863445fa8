"""How much a strategy gets right against the number of labelled texts: the picture of what pre-training is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool
from bokeh.plotting import figure

from widgets.charts.strategies_over_steps import Steps, banded, lines, marks, means
from widgets.theme import chart

ROOM = 1.18
"""How far the axis goes beyond the fewest and the most labelled texts, as a factor."""


@dataclass(frozen=True)
class LabelCurve:
    """A figure with a band, a line and a dot for every seed of each strategy, over a scale that doubles."""

    figure: figure
    lines: ColumnDataSource
    means: ColumnDataSource
    seeds: ColumnDataSource

    def show(self, values: Mapping[str, Steps]) -> None:
        """Draw everything so far."""
        self.lines.data, self.means.data = lines(values, 1.0), means(values, "labels")
        self.seeds.data = marks(values, "labels")
        self.reach(sorted(set(self.seeds.data["labels"])))

    def reach(self, counts: Sequence[int]) -> None:
        """Let the axis hold these numbers of labelled texts, also those that have not been run yet."""
        if counts:
            self.figure.xaxis[0].ticker = FixedTicker(ticks=list(counts))
            self.figure.x_range.update(start=counts[0] / ROOM, end=counts[-1] * ROOM)


def label_curve() -> LabelCurve:
    """An empty figure."""
    plot = chart(
        height=330, title="Label efficiency", x_axis_type="log",
        x_axis_label="labelled texts", y_axis_label="accuracy", x_range=(12, 600),
    )  # fmt: skip
    plot.title.text_font_size = "15px"
    plot.xaxis.ticker = FixedTicker(ticks=[16, 64, 256])
    plot.xaxis.major_label_overrides = {count: str(count) for count in range(1, 1025)}
    drawn = ColumnDataSource(lines({}))
    middles, seeds = (ColumnDataSource(make({}, "labels")) for make in (means, marks))
    line = banded(plot, drawn, width=3)
    plot.scatter("labels", "value", source=seeds, marker="shape", size=5, color="colour", alpha=0.45, line_alpha=0)
    dots = plot.scatter("labels", "value", source=middles, marker="shape", size=10, color="colour")
    shown = [("strategy", "@name"), ("labelled texts", "@labels"), ("mean", "@value{0.000}")]
    plot.add_tools(HoverTool(renderers=[line], tooltips=None), HoverTool(renderers=[dots], tooltips=shown))
    return LabelCurve(plot, drawn, middles, seeds)


def markup(points: Sequence[dict[str, Any]]) -> str:
    """Each strategy against the first at every number of labelled texts, bold where the gap is beyond the noise."""
    gaps = [gap for point in points for gap in point["against_first"]]
    if not gaps:
        return ""
    names = list(dict.fromkeys(gap["name"] for gap in gaps))
    heads = "".join(f'<th scope="col">{point["labels"]} labelled texts</th>' for point in points)
    rows = "".join(_row(name, [_gap(point, name) for point in points]) for name in names)
    told = "A gap is the mean of paired differences with its 95 % interval; bold is beyond the noise."
    frame = '<div class="wide" tabindex="0" role="group" aria-label="gaps to the first">'
    return (
        f'{frame}<table><tr><th scope="col">against {escape(gaps[0]["against"])}</th>{heads}</tr>{rows}'
        f'</table></div><p class="quiet">{told}</p>'
    )


def _gap(point: dict[str, Any], name: str) -> dict[str, Any]:
    return next(gap for gap in point["against_first"] if gap["name"] == name)


def _row(name: str, gaps: Sequence[dict[str, Any]]) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, gaps))}</tr>'


def _cell(gap: dict[str, Any]) -> str:
    said = f"{gap['difference']:+.3f}"
    room = "" if gap["low"] is None else f' <span class="quiet">({gap["low"]:+.3f} to {gap["high"]:+.3f})</span>'
    return f"<td>{f'<b>{said}</b>' if gap['larger'] else said}{room}</td>"
