"""Pictures as SVG text for notebooks and exports: they need no kernel, no network and no script."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from statistics import fmean

from torch import Tensor

from playground.glossary import explain
from playground.training.curve import CurvePoint
from playground.training.lr_finder import LRFinderResult, TriedRate
from widgets.charts import columns
from widgets.charts.columns import Columns, Values, ticks
from widgets.charts.legend import DASHES, Mark
from widgets.design_tokens import BLUE, GREEN, GREY, TOKENS, VERMILION

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 228, 46, 42
FOOT = HEIGHT - BOTTOM

# loss over steps, and over the learning rate


def curve(
    rows: Sequence[CurvePoint],
    last: int,
    unigram: float | None = None,
    bound: float | None = None,
    phases: Sequence[tuple[int, str]] = (),
    unit: str = "nats",
    beside: Sequence[CurvePoint] = (),
) -> str:
    """Loss over steps: training thin, held out bold, the unigram baseline dashed, the entropy bound dotted.

    What is drawn `beside` it has the same scale.
    Phases are marked where they begin, by step and name. The two levels are in nats, as a loss in another unit is not.
    """
    unigram, bound = (unigram, bound) if unit.startswith("nats") else (None, None)
    seen, tested = columns.training(rows), columns.held_out(rows)
    other = columns.training(beside)["loss"][:1], columns.held_out(beside)["loss"]
    top = columns.highest_loss(unigram, seen["loss"], tested["loss"], *other)
    parts = [
        *_loss_axis(top),
        *(words(_x(value, last), FOOT + 16, f"{value:g}", "middle") for value in ticks(0, last, 6)),
        words(WIDTH - 12, HEIGHT - 4, f"{columns.loss_label([unit])} over steps", "end", explained=True),
    ]
    for value, level in zip((unigram, bound), columns.LEVELS, strict=True):
        if value is not None:
            parts.append(_line(LEFT, _y(value, top), WIDTH - 12, _y(value, top), level.colour, 1, DASHES[level.dash]))
            parts.append(words(WIDTH - 14, _y(value, top) - 4, f"{level.name} {value:.2f}", "end", explained=True))
    for step, name in phases:
        parts.append(_line(_x(step, last), _y(top, top), _x(step, last), FOOT, GREY, 1, DASHES["dashed"]))
        parts.append(words(_x(step, last) + 4, _y(top, top) + 10, name))
    for k, (drawn, line) in enumerate(zip((_thin(seen), tested), columns.LINES, strict=True)):
        points = [(_x(s, last), _y(v, top)) for s, v in zip(drawn["step"], drawn["loss"], strict=True)]
        x = LEFT + 8 + 84 * k
        parts += [_path(points, line), _path([(x, HEIGHT - 8), (x + 20, HEIGHT - 8)], line)]
        parts.append(words(x + 26, HEIGHT - 4, line.name))
    return picture("".join(parts), WIDTH, HEIGHT, "Loss over steps")


def sparkline(values: Sequence[float], title: str, width: float = 320, height: float = 56) -> str:
    """Held-out losses as a line without axes, from the lowest value to the highest."""
    low, high = min(values), max(values)
    points = [
        (2 + (width - 4) * k / max(1, len(values) - 1), 2 + (height - 4) * (high - value) / max(high - low, 1e-9))
        for k, value in enumerate(values)
    ]
    return picture(_path(points, columns.LINES[1]), width, height, title)


def search(tried: Sequence[TriedRate], found: LRFinderResult | None) -> str:
    """Loss over learning rate, which grows by the same factor in every step, and the rate that is suggested."""
    top = 1.4 * tried[0].smooth
    low, high = log10(tried[0].rate), max(log10(tried[-1].rate), log10(tried[0].rate) + 1e-9)

    def x_of(rate: float) -> float:
        return _x(log10(rate) - low, high - low)

    powers = [10.0**power for power in range(ceil(low), floor(high) + 1)]
    parts = [
        *_loss_axis(top),
        *(words(x_of(power), FOOT + 16, f"{power:g}", "middle") for power in powers),
        *(dot(x_of(t.rate), _y(t.loss, top), BLUE, f"{t.loss:.3f} at rate {t.rate:.2g}") for t in tried),
        words(WIDTH - 12, HEIGHT - 4, "learning rate (loss per scored position)", "end", explained=True),
        _path([(x_of(t.rate), _y(t.smooth, top)) for t in tried], Mark("smoothed", BLUE)),
    ]
    if found is not None:
        x = x_of(found.rate)
        parts.append(_line(x, 10, x, FOOT, GREEN, 1.8, DASHES["dashed"]))
        parts.append(words(x + 5, 22, f"{found.rate:.2g}"))
    return picture("".join(parts), WIDTH, HEIGHT, "Loss over learning rate")


def _thin(drawn: Columns, most: int = 300) -> Columns:
    """At most so many points, each the mean of its neighbours."""
    size = max(1, len(drawn["step"]) // most)
    pieces = [slice(i, i + size) for i in range(0, len(drawn["step"]), size)]
    return {"step": [drawn["step"][p][-1] for p in pieces], "loss": [fmean(drawn["loss"][p]) for p in pieces]}


def _x(step: float, last: float) -> float:
    return LEFT + (WIDTH - LEFT - 12) * step / max(1, last)


def _y(value: float, top: float) -> float:
    return 10 + (FOOT - 10) * (1 - min(max(value, 0.0), top) / top)


def _loss_axis(top: float) -> Iterator[str]:
    """Level lines at round losses with their numbers."""
    return levels(lambda value: _y(value, top), 0, top, LEFT, WIDTH - 12)


def _path(points: Sequence[tuple[float, float]], line: Mark) -> str:
    """A line through points; a thin one is paler."""
    if not points:
        return ""
    d, alpha = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), 0.7 if line.width < 2 else 1
    return f'<path d="{d}" fill="none" stroke="{line.colour}" stroke-width="{line.width}" stroke-opacity="{alpha}"/>'


# the plasticity plan

HEAT, ROW, LETTER = 300, 18, 6.3
"""Width of a heat map, height of a row of it, and the room that a letter of a row's name takes, in pixels."""


def heat(title: str, groups: Sequence[str], plan: Tensor, cursor: int = 0) -> str:
    """A plasticity plan `[g, s]` as a heat map, the lowest group at the bottom; runs of one value are one bar.

    The cursor stands after so many steps; 0 is none.
    """
    names = [columns.shortened(name, groups) for name in groups]
    left = 12 + LETTER * max(map(len, names))
    width, steps, height = HEAT - 2 - left, plan.shape[1], 22 + len(groups) * ROW + 16
    parts = [words(0, 13, title, more=BOLD)]
    for index, (name, row) in enumerate(reversed(list(zip(names, columns.shares(plan), strict=True)))):
        y = 22 + index * ROW
        parts.append(words(left - 7, y + 12, name, "end"))
        values, lengths = row.unique_consecutive(return_counts=True)
        start = 0
        for share, length in zip(values.tolist(), lengths.tolist(), strict=True):
            x, w = left + start * width / steps, length * width / steps
            parts.append(rect(x, y, w, ROW - 3, BLUE, share, ' shape-rendering="crispEdges"'))
            start += length
        parts.append(
            f'<path d="M{left:.1f} {y}h{width:.1f}v{ROW - 3}h{-width:.1f}z" fill="none" stroke="#8887" '
            'stroke-width=".7"/>'
        )
    if cursor:
        x = left + min(cursor, steps) * width / steps
        parts.append(_line(x, 18, x, height - 14, VERMILION, 2))
    parts.append(words(left, height - 3, "step 1") + words(left + width, height - 3, f"{steps}", "end"))
    return picture("".join(parts), HEAT, height, f"Plan of {title}")


# outcomes by seed

PANEL, LINE, MOST = 300, 26, 30
"""Width of a panel and height of a strategy in it, in pixels, and the letters of a strategy's name that are shown."""


def dots(title: str, values: Values, colour: str = BLUE) -> str:
    """One line per strategy: a dot per seed, a mark at the mean, a band of one standard deviation around it."""
    left, names = _names(values, 22)
    body = "".join([*names, *_panel(title, values, colour, left, 22)])
    return picture(body, left + PANEL + 8, 22 + LINE * len(values) + 20, title)


def outcomes(title: str, accuracy: Values, forgetting: Values, unit: str = "nats") -> str:
    """Accuracy and forgetting of every strategy side by side, on white paper."""
    left, names = _names(accuracy, 62)
    right, palette = left + PANEL + 40, TOKENS["palette"]
    parts = [
        words(16, 26, title, size=14),
        *names,
        *_panel("accuracy on unseen texts", accuracy, palette["blue"], left, 62),
    ]
    if any(forgetting.values()):  # of a base without a head for words it is not measured
        parts += _panel(f"forgetting in {unit}", forgetting, palette["vermilion"], right, 62)
        left = right
    wide = max(left + PANEL + 24, round(32 + 1.3 * LETTER * len(title)))
    return picture("".join(parts), wide, 62 + LINE * len(accuracy) + 34, title, paper=True)


def _names(values: Values, top: float) -> tuple[int, list[str]]:
    """Where the names of the strategies end, with their room, and the names."""
    shown = [name if len(name) <= MOST else f"{name[: MOST - 1]}…" for name in values]
    left = round(24 + LETTER * max(map(len, shown), default=0))
    return left, [words(left - 10, top + LINE * (k + 0.5) + 4, name, "end") for k, name in enumerate(shown)]


def _panel(title: str, values: Values, colour: str, left: float, top: float) -> Iterator[str]:
    """A title and an axis with round numbers, and in a row for each strategy its band, its mean and its seeds."""
    low, high = columns.seed_range(values)
    foot = top + LINE * len(values)
    rows = {name: top + LINE * (k + 0.5) for k, name in enumerate(values)}

    def x_of(value: float) -> float:
        return left + PANEL * (min(max(value, low), high) - low) / (high - low)

    yield words(left, top - 10, title, more=BOLD, explained=True)
    for value in ticks(low, high):
        yield _line(x_of(value), top, x_of(value), foot, "#888" if value == 0 else "#8884")
        yield words(x_of(value), foot + 14, f"{value:.3g}", "middle")
    bands, marks = columns.seed_bands(values), columns.seed_marks(values)
    for name, mean, begin, end in zip(*(bands[what] for what in ("name", "mean", "low", "high")), strict=True):
        yield rect(x_of(begin), rows[name] - 8, x_of(end) - x_of(begin), 16, colour, 0.25)
        yield _line(x_of(mean), rows[name] - 10, x_of(mean), rows[name] + 10, colour, 2.5)
    for name, value in zip(marks["name"], marks["value"], strict=True):
        yield dot(x_of(value), rows[name], colour, f"{value:.3f}")


# elements

BOLD = ' font-weight="600"'
INK, PAPER = TOKENS["still"]["ink"], TOKENS["still"]["paper"]


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, width: float = 1, dash: str = "") -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dash}/>'


def rect(
    x: float, y: float, width: float, height: float, colour: str, alpha: float = 1, more: str = "", title: str = ""
) -> str:
    """A filled rectangle; `more` are further attributes, the `title` is seen when the pointer rests on it."""
    x_of = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}"'
    end = f"><title>{_printable(title)}</title></rect>" if title else "/>"
    return f'<rect {x_of} fill="{colour}" fill-opacity="{alpha:.3f}"{more}{end}'


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where a value stands between two places."""
    return lambda value: start + (end - start) * (value - low) / (high - low)


def levels(
    y_of: Callable[[float], float], low: float, high: float, left: float, right: float, most: int = 5, form: str = "g"
) -> Iterator[str]:
    """Level lines at round values with their numbers on the left."""
    for value in ticks(low, high, most):
        yield f'<path d="M{left} {y_of(value):.1f}H{right}" stroke="#8884"/>'
        yield words(left - 6, y_of(value) + 4, f"{value:{form}}", "end")


def dot(x: float, y: float, colour: str, text: str) -> str:
    """A dot that says its value when the pointer rests on it."""
    x_of = f'cx="{x:.1f}" cy="{y:.1f}" r="3.5"'
    return f'<circle {x_of} fill="{colour}" fill-opacity=".8"><title>{_printable(text)}</title></circle>'


def words(
    x: float, y: float, text: str, anchor: str = "start", size: int = 11, more: str = "", explained: bool = False
) -> str:
    """A line of text with further attributes; an `explained` one shows its terms where the pointer rests."""
    x_of = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    terms = f"<title>{_printable(explain(text))}</title>" if explained else ""
    return f'<text {x_of} fill="currentColor"{more}>{_printable(text)}{terms}</text>'


def _printable(text: str) -> str:
    """Text without control characters, which no XML may hold."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


def picture(body: str, width: float, height: float, title: str, paper: bool = False) -> str:
    """A picture in the colour of the text around it, or in ink on white paper."""
    ink, sheet = (f"color:{INK};", rect(0, 0, width, height, PAPER)) if paper else ("", "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="{ink}max-width:100%;height:auto;font-family:system-ui,sans-serif" role="img">'
        f"<title>{_printable(title)}</title>{sheet}{body}</svg>"
    )
