"""The band of a class: mean and deviation of the held-out loss over all seeds, one's own curve, the guesses."""

from collections.abc import Sequence

from bokeh.plotting import figure

from playground.training.parallel.seeds import Band
from playground.training.session import Row
from widgets.charts.chart import Chart
from widgets.charts.columns import LOSS, Columns, columns_of, ticks
from widgets.charts.legend import Mark, key
from widgets.theme import chart
from widgets.tokens import BLUE, PURPLE, VERMILION

MEAN, BAND = Mark("mean of all seeds", VERMILION, width=3), Mark("± a standard deviation", VERMILION, width=7)
OWN, GUESSES = Mark("your seed", BLUE, width=2), Mark("guesses", PURPLE, shape="diamond", width=0)


def bands(bands: Sequence[Band], own: Sequence[Row], guesses: Sequence[float], steps: int) -> Columns:
    """One row for each evaluated step."""
    return columns_of(
        ("step", "mean", "low", "high", "seeds"),
        [(one.step, one.mean, one.mean - one.sd, one.mean + one.sd, one.seeds) for one in bands],
    )


def own(bands: Sequence[Band], own: Sequence[Row], guesses: Sequence[float], steps: int) -> Columns:
    """The held-out loss of one seed."""
    return columns_of(("step", "loss"), [(row.step, row.held_out) for row in own])


def guesses(bands: Sequence[Band], own: Sequence[Row], guesses: Sequence[float], steps: int) -> Columns:
    """The guesses, which are about the last step."""
    return columns_of(("step", "guess"), [(steps, guess) for guess in guesses])


def fit(plot: figure, bands: Sequence[Band], own: Sequence[Row], guesses: Sequence[float], steps: int) -> None:
    """Axes that hold the whole run from the beginning, so that nothing moves but the band."""
    losses = [row.held_out for row in own if row.held_out is not None]
    top = max([8.0, *(one.mean + one.sd for one in bands), *losses, *guesses])
    if (plot.x_range.end, plot.y_range.end) != (end := (steps * 1.02, top)):
        plot.x_range.end, plot.y_range.end = end
        plot.xaxis[0].ticker, plot.yaxis[0].ticker = ticks(0, steps, 6), ticks(0, top)


def class_chart(height: int = 420) -> Chart:
    """An empty picture of a class."""
    plot = chart(
        height=height, min_border_left=64, x_axis_label="steps", y_axis_label=LOSS, x_range=(0, 1), y_range=(0, 8)
    )
    made = Chart.of(plot, (), (), (), 1, fit=fit, bands=bands, own=own, guesses=guesses)
    sources = made.sources
    plot.varea("step", "low", "high", source=sources["bands"], fill_color=VERMILION, fill_alpha=0.2)
    plot.line("step", "mean", source=sources["bands"], color=VERMILION, line_width=3)
    plot.line("step", "loss", source=sources["own"], color=BLUE, line_width=2)
    plot.scatter("step", "guess", source=sources["guesses"], color=PURPLE, marker="diamond", size=13, fill_alpha=0.6)
    return made


def legend(own: bool, guessed: bool) -> str:
    """What is drawn now."""
    return key([MEAN, BAND, *([OWN] if own else []), *([GUESSES] if guessed else [])])
