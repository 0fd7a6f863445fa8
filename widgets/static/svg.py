"""Pictures as SVG text for notebooks and exports: they need no kernel, no network and no script."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from torch import Tensor

from playground.training.lr_finder import LRFinderResult, TriedRate
from playground.training.session import Row
from widgets.theme import BLUE, GREEN, GREY, VERMILION

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 228, 46, 42


def curve(rows: Sequence[Row], last: int, unigram: float | None = None, bound: float | None = None) -> str:
    """Loss over steps in nats: training thin, held out bold, unigram baseline dashed, the entropy bound dotted."""
    top = max([1.0, *(1.3 * v for v in (unigram,) if v), *(r.held_out for r in rows if r.held_out is not None)])
    loss = [(r.step, r.loss) for r in rows if r.loss is not None]
    tested = [(r.step, r.held_out) for r in rows if r.held_out is not None]
    parts = [_axes(last, top)]
    parts += [_level(v, top, colour, dash, name) for v, colour, dash, name in _levels(unigram, bound)]
    parts.append(_path(_thin(loss), last, top, BLUE, 1.2, 0.7))
    parts.append(_path(tested, last, top, VERMILION, 2.2, 1.0))
    parts += [_sample(LEFT + 8, "training", BLUE, 1.2, 0.7), _sample(LEFT + 92, "held out", VERMILION, 2.2, 1.0)]
    return _svg("".join(parts), WIDTH, HEIGHT, "Loss over steps")


def search(tried: Sequence[TriedRate], found: LRFinderResult | None) -> str:
    """Loss over learning rate, which grows by the same factor in every step, and the rate that is suggested."""
    top = 1.4 * tried[0].smooth
    low, high = log10(tried[0].rate), max(log10(tried[-1].rate), log10(tried[0].rate) + 1e-9)

    def place(rate: float) -> float:
        return _x(log10(rate) - low, high - low)

    powers = [10.0**power for power in range(ceil(low), floor(high) + 1)]
    parts = [
        *(_words(LEFT - 6, _y(value, top) + 4, f"{value:g}", "end") for value in _ticks(0, top)),
        *(_words(place(power), HEIGHT - BOTTOM + 16, f"{power:g}", "middle") for power in powers),
        *(_read(place(t.rate), _y(t.loss, top), BLUE, f"{t.loss:.3f} nats at rate {t.rate:.2g}") for t in tried),
        _words(WIDTH - 12, HEIGHT - 4, "learning rate (loss in nats)", "end"),
    ]
    line = "L".join(f"{place(t.rate):.1f} {_y(t.smooth, top):.1f}" for t in tried)
    parts.append(f'<path d="M{line}" fill="none" stroke="{BLUE}" stroke-width="2.2"/>')
    if found is not None:
        x = place(found.rate)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{HEIGHT - BOTTOM}" stroke="{GREEN}" stroke-width="1.8" '
            f'stroke-dasharray="6 4"/>{_words(x + 5, 22, f"{found.rate:.2g}", "start")}'
        )
    return _svg("".join(parts), WIDTH, HEIGHT, "Loss over learning rate")


def _read(x: float, y: float, colour: str, text: str) -> str:
    """A dot that says its value when the pointer rests on it."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{escape(text)}</title></circle>'


def _levels(unigram: float | None, bound: float | None) -> list[tuple[float, str, str, str]]:
    named = [(unigram, GREY, "6 4", "unigram baseline"), (bound, GREEN, "2 4", "entropy bound")]
    return [(v, colour, dash, name) for v, colour, dash, name in named if v is not None]


def _sample(x: float, name: str, colour: str, width: float, alpha: float) -> str:
    """A piece of a line with its name, below the axis."""
    y = HEIGHT - 8
    line = f'<line x1="{x}" x2="{x + 20}" y1="{y}" y2="{y}" stroke="{colour}" '
    return f'{line}stroke-width="{width}" stroke-opacity="{alpha}"/>{_words(x + 26, y + 4, name, "start")}'


def _ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from low to high: steps of 1, 2 or 5 times a power of ten."""
    rough = max(high - low, 1e-9) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999)
    return [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _thin(points: list[tuple[int, float]], most: int = 300) -> list[tuple[int, float]]:
    """At most so many points, each the mean of its neighbours."""
    size = max(1, len(points) // most)
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [(g[-1][0], sum(v for _, v in g) / len(g)) for g in groups]


def _x(step: float, last: float) -> float:
    return LEFT + (WIDTH - LEFT - 12) * step / max(1, last)


def _y(value: float, top: float) -> float:
    return 10 + (HEIGHT - BOTTOM - 10) * (1 - min(max(value, 0.0), top) / top)


def _axes(last: int, top: float) -> str:
    lines = ""
    for value in _ticks(0, top):
        y = _y(value, top)
        lines += f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>'
        lines += _words(LEFT - 6, y + 4, f"{value:g}", "end")
    for value in _ticks(0, last, 6):
        lines += _words(_x(value, last), HEIGHT - BOTTOM + 16, f"{value:g}", "middle")
    return lines + _words(WIDTH - 12, HEIGHT - 4, "step (loss in nats per scored position)", "end")


def _level(value: float, top: float, colour: str, dash: str, name: str) -> str:
    y = _y(value, top)
    line = (
        f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-dasharray="{dash}"/>'
    )
    return line + _words(WIDTH - 14, y - 4, f"{name} {value:.2f}", "end")


def _path(points: Sequence[tuple[int, float]], last: int, top: float, colour: str, width: float, alpha: float) -> str:
    if not points:
        return ""
    d = "M" + "L".join(f"{_x(s, last):.1f} {_y(v, top):.1f}" for s, v in points)
    return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-opacity="{alpha}"/>'


HEAT, ROW, LETTER = 300, 18, 6.3
"""Width of a heat map, height of a row of it, and the room that a letter of a row's name takes, in pixels."""


def heat(title: str, groups: Sequence[str], plan: Tensor, cursor: int = 0) -> str:
    """A plasticity plan `[g, s]` as a heat map, the lowest group at the bottom; runs of one value are one bar.

    The cursor stands after so many steps; 0 is none.
    """
    names = [shortened(name, groups) for name in reversed(groups)]
    left = 12 + LETTER * max(map(len, names))
    width, steps, top = HEAT - 2 - left, plan.shape[1], max(float(plan.max()), 1e-12)
    parts = [_words(0, 13, title, "start", bold=True)]
    for index, name in enumerate(names):
        y = 22 + index * ROW
        parts.append(_words(left - 7, y + 12, name, "end"))
        for start, end, value in _runs(plan[len(groups) - 1 - index]):
            x, w = left + start * width / steps, (end - start) * width / steps
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{ROW - 3}" fill="{BLUE}" '
                f'fill-opacity="{value / top:.3f}" shape-rendering="crispEdges"/>'
            )
        parts.append(
            f'<path d="M{left:.1f} {y}h{width:.1f}v{ROW - 3}h{-width:.1f}z" fill="none" stroke="#8887" '
            'stroke-width=".7"/>'
        )
    height = 22 + len(groups) * ROW + 16
    if cursor:
        x = left + min(cursor, steps) * width / steps
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="18" y2="{height - 14}" stroke="{VERMILION}" stroke-width="2"/>'
        )
    parts.append(_words(left, height - 3, "step 1", "start") + _words(left + width, height - 3, f"{steps}", "end"))
    return _svg("".join(parts), HEAT, height, f"Plan of {title}")


def shortened(name: str, names: Sequence[str]) -> str:
    """The name of a layer group without its stack, where a model has one stack only."""
    return name if any(other.startswith("decoder") for other in names) else name.removeprefix("encoder ")


def _runs(values: Tensor) -> list[tuple[int, int, float]]:
    runs: list[tuple[int, int, float]] = []
    for step, value in enumerate(values.tolist()):
        if runs and runs[-1][2] == value:
            runs[-1] = (runs[-1][0], step + 1, value)
        else:
            runs.append((step, step + 1, value))
    return runs


def dots(title: str, values: Mapping[str, Sequence[float]], colour: str = BLUE) -> str:
    """One line per strategy, one dot per seed, a tick at the mean."""
    seen = [v for some in values.values() for v in some] or [0.0, 1.0]
    low, high = min(seen), max(seen)
    room = 0.08 * (high - low) + 0.01
    low, high, left, width, row = low - room, high + room, 140, 300, 26
    foot = 24 + len(values) * row

    def place(value: float) -> float:
        return left + width * (value - low) / (high - low)

    parts = [_words(0, 12, title, "start", bold=True), *_scale(_ticks(low, high, 4), place, 22, foot)]
    for index, (name, some) in enumerate(values.items()):
        y = 36 + index * row
        parts.append(_words(left - 10, y + 4, name, "end"))
        parts += [f'<circle cx="{place(v):.1f}" cy="{y}" r="4" fill="{colour}" fill-opacity=".75"/>' for v in some]
        if some:
            x = place(sum(some) / len(some))
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 9}" y2="{y + 9}" stroke="{colour}" stroke-width="2"/>'
            )
    return _svg("".join(parts), left + width + 8, foot + 20, title)


def _scale(ticks: Sequence[float], place: Callable[[float], float], top: float, foot: float) -> Iterator[str]:
    """Upright lines at round numbers, the one at zero stronger."""
    for value in ticks:
        x, colour = place(value), "#888" if value == 0 else "#8884"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{foot}" stroke="{colour}"/>'
        yield _words(x, foot + 14, f"{value:.3g}", "middle")


def _words(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" fill="currentColor"{weight}>'
        f"{escape(text)}</text>"
    )


def _svg(body: str, width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto;font-family:system-ui,sans-serif" role="img"><title>{escape(title)}</title>'
        f"{body}</svg>"
    )
