"""Accuracy of the strategies against the number of labelled texts: what pre-training is worth."""

from collections.abc import Sequence
from html import escape

from bokeh.plotting import figure

from playground.finetuning.comparing.compare import CurvePoint
from playground.finetuning.comparing.significance import PairFacts
from widgets.charts.chart import Chart
from widgets.charts.strategies_over_steps import banded
from widgets.charts.wide_table import wide_table
from widgets.theme import chart

ROOM = 1.18
"""How far the axis goes beyond the fewest and the most labelled texts, as a factor."""


def label_curve() -> Chart:
    """An empty figure: a band, a line, and a dot for every seed of each strategy, over a logarithmic axis."""
    plot = chart(
        height=330, title="Label efficiency", x_axis_type="log", x_axis_label="labelled texts", y_axis_label="accuracy",
        x_range=(12, 600),
    )  # fmt: skip
    plot.title.text_font_size = "15px"
    plot.xaxis.major_label_overrides = {count: str(count) for count in range(1, 1025)}
    hover = [("strategy", "@name"), ("labelled texts", "@labels"), ("mean", "@value{0.000}")]
    return banded(plot, "labels", hover, most=1.0, width=3, size=10, seeds=True)


def reach(plot: figure, counts: Sequence[int]) -> None:
    """Let the axis hold these numbers of labelled texts, also those that have not been run yet."""
    plot.xaxis[0].ticker = list(counts)
    plot.x_range.update(start=counts[0] / ROOM, end=counts[-1] * ROOM)


def markup(points: Sequence[CurvePoint]) -> str:
    """Each strategy against the first at every number of labelled texts, bold where the gap is beyond the noise."""
    named: dict[str, list[PairFacts]] = {}
    for gap in (gap for point in points for gap in point["against_first"]):
        named.setdefault(gap["name"], []).append(gap)
    if not named:
        return ""
    first = next(iter(named.values()))[0]["against"]
    heads = (f"against {first}", *(f"{point['labels']} labelled texts" for point in points))
    rows = ([f'<th scope="row">{escape(name)}</th>', *map(_cell, gaps)] for name, gaps in named.items())
    said = (
        "A gap is the mean of paired differences with its 95 % interval; bold is larger than the noise, where all gaps "
        "of the table count as one test (Holm)."
    )
    return wide_table("gaps to the first", heads, rows) + f'<p class="quiet">{said}</p>'


def _cell(gap: PairFacts) -> str:
    said = f"{gap['difference']:+.3f}"
    room = "" if gap["low"] is None else f' <span class="quiet">({gap["low"]:+.3f} to {gap["high"]:+.3f})</span>'
    return f"<td>{f'<b>{said}</b>' if gap['larger'] else said}{room}</td>"
