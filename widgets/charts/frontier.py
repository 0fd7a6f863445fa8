"""The frontier: what is kept of the answers against what a model costs by one meter."""

from collections.abc import Callable
from typing import Any

from bokeh.models import HoverTool
from bokeh.plotting import figure

from playground.compression.compare import CompressionFacts, PipelineFacts
from widgets.charts.chart import Chart
from widgets.charts.columns import Columns, columns_of
from widgets.charts.legend import Mark, key, shape, style
from widgets.theme import chart

COSTS: dict[str, tuple[str, Callable[[PipelineFacts], float]]] = {
    "bytes": ("size of the file (KiB)", lambda row: row["bytes"] / 1024),
    "operations": ("operations per text (millions)", lambda row: row["operations"] / 1e6),
    "seconds": ("milliseconds of a batch of 1", lambda row: row["latency"]["1"]["median"] * 1e3),
    "parameters": ("parameters (thousands)", lambda row: row["parameters"] / 1e3),
}
"""What the frontier may be drawn over: the words along the axis, and the number of a pipeline in its unit."""

FAINT, FULL = 0.35, 0.95
"""How a pipeline is drawn that another one beats, and one that none does."""


def points(facts: CompressionFacts | None, meter: str) -> Columns:
    """A row for each pipeline: its mean score, one standard deviation around it, its cost, and its look."""
    names = ("name", "cost", "score", "low", "high", "colour", "shape", "alpha", "kept")
    if facts is None or (meter == "seconds" and not facts["pipelines"][0]["latency"]):  # timed at the end
        return columns_of(names, [])
    best = facts["frontier"].get(meter)
    return columns_of(names, [_row(k, row, best, meter) for k, row in enumerate(facts["pipelines"])])


def _row(k: int, row: PipelineFacts, best: list[str] | None, meter: str) -> tuple[Any, ...]:
    score, kept = row["accuracy"], row["kept"]["mean"]
    alpha = FULL if best is None or row["name"] in best else FAINT
    said = "–" if kept is None else f"{kept:.0%}"
    low, high = score["mean"] - score["sd"], score["mean"] + score["sd"]
    return row["name"], COSTS[meter][1](row), score["mean"], low, high, style(k)[0], shape(k), alpha, said


def frontier_chart() -> Chart:
    """An empty chart: cost to the right, score upwards, a mark for each pipeline."""
    plot = chart(
        height=320,
        x_range=(0, 1),
        y_range=(0, 1),
        title="The frontier: what is kept, against what it costs",
        x_axis_label="",
        y_axis_label="accuracy",
    )
    made = Chart.of(plot, None, "bytes", fit=_fit, points=points)
    source = made.sources["points"]
    plot.segment("cost", "low", "cost", "high", source=source, color="colour", alpha="alpha", line_width=2)
    dots = plot.scatter("cost", "score", source=source, marker="shape", size=13, color="colour", alpha="alpha")
    tips = [
        ("pipeline", "@name"),
        ("accuracy", "@score{0.000}"),
        ("kept above chance", "@kept"),
        ("cost", "@cost{0,0.00}"),
    ]
    plot.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    return made


def _fit(plot: figure, facts: CompressionFacts | None, meter: str) -> None:
    """Both axes from where the numbers are; the costs begin at 0."""
    plot.xaxis[0].axis_label = COSTS[meter][0]
    if facts is None:
        return
    drawn = points(facts, meter)
    if not drawn["cost"]:
        return
    plot.x_range.update(start=0, end=1.08 * max(drawn["cost"]))
    low, high = min(*drawn["low"], facts["chance"]), max(drawn["high"])
    plot.y_range.update(start=low - 0.03, end=min(1.02, high + 0.03))


def legend(facts: CompressionFacts) -> str:
    """The pipelines with their marks."""
    return key([Mark(row["name"], style(k)[0], shape=shape(k), width=0) for k, row in enumerate(facts["pipelines"])])
