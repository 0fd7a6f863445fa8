"""The figure of a comparison, drawn once as lines, dots and words, written as SVG or as PNG (by Pillow)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from math import ceil, floor, isfinite, log10
from statistics import fmean, stdev
from typing import Any

INK, PAPER, FAINT = "#1b1f24", "#ffffff", "#d5d9de"
BLUE, VERMILION = "#0072b2", "#d55e00"
LEFT, PANEL, GAP, ROW, TOP = 210, 330, 40, 30, 58


@dataclass(frozen=True)
class Line:
    """A straight line."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: str = INK
    width: float = 1.0


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: str


@dataclass(frozen=True)
class Bar:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True)
class Words:
    """A line of text that begins, ends or is centred at a place."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: int = 12


Mark = Line | Dot | Bar | Words


@dataclass(frozen=True)
class Drawing:
    """Marks on white paper."""

    title: str
    width: int
    height: int
    marks: tuple[Mark, ...]


def outcomes_figure(
    title: str, accuracy: Mapping[str, Sequence[float]], forgetting: Mapping[str, Sequence[float]]
) -> Drawing:
    """Accuracy and forgetting of every strategy: a dot for every seed, a line at the mean, a band of one deviation."""
    accuracy, forgetting = (
        {name: [v for v in some if isfinite(v)] for name, some in values.items()} for values in (accuracy, forgetting)
    )
    foot = TOP + ROW * len(accuracy)
    marks: list[Mark] = [Words(16, 24, title, size=14)]
    for index, name in enumerate(accuracy):
        marks.append(Words(LEFT - 14, TOP + ROW * index + ROW / 2 + 4, shortened(name), "end"))
    right = LEFT + PANEL + GAP
    marks += _panel("accuracy on unseen texts", accuracy, LEFT, foot, BLUE, "#bfdcec")
    marks += _panel("forgetting in nats", forgetting, right, foot, VERMILION, "#f5d7bf")
    return Drawing(title, right + PANEL + 24, foot + 34, tuple(marks))


def shortened(name: str, most: int = 30) -> str:
    """A name that fits beside the panel."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _panel(
    title: str, values: Mapping[str, Sequence[float]], left: float, foot: float, colour: str, band: str
) -> Iterator[Mark]:
    seen = [v for some in values.values() for v in some] or [0.0, 1.0]
    room = 0.08 * (max(seen) - min(seen)) + 0.01
    low, high = min(seen) - room, max(seen) + room

    def place(value: float) -> float:
        return left + PANEL * (min(max(value, low), high) - low) / (high - low)

    yield Words(left, TOP - 10, title)
    for tick in ticks(low, high):
        yield Line(place(tick), TOP, place(tick), foot, FAINT)
        yield Words(place(tick), foot + 16, f"{tick:.3g}", "middle", 11)
    for index, some in enumerate(values.values()):
        middle = TOP + ROW * index + ROW / 2
        if some:
            mean, sd = fmean(some), stdev(some) if len(some) > 1 else 0.0
            yield Bar(place(mean - sd), middle - 8, place(mean + sd) - place(mean - sd), 16, band)
            yield Line(place(mean), middle - 10, place(mean), middle + 10, colour, 2.5)
        yield from (Dot(place(v), middle, 3.5, colour) for v in some)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from low to high: steps of 1, 2 or 5 times a power of ten."""
    rough = max(high - low, 1e-9) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999)
    return [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def svg(drawing: Drawing) -> str:
    """The drawing as SVG text, which needs no script."""
    body = "".join(map(_element, drawing.marks))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'width="{drawing.width}" height="{drawing.height}" role="img" '
        f'style="max-width:100%;height:auto;font-family:system-ui,sans-serif"><title>{escape(drawing.title)}</title>'
        f'<rect width="100%" height="100%" fill="{PAPER}"/>{body}</svg>'
    )


def _element(mark: Mark) -> str:
    match mark:
        case Line(x, y, to_x, to_y, colour, width):
            ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
            return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'
        case Dot(x, y, radius, colour):
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'
        case Bar(x, y, width, height, colour):
            return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        case Words(x, y, text, anchor, size):
            place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
            return f'<text {place} font-size="{size}" fill="{INK}">{escape(text)}</text>'


def png(drawing: Drawing, scale: int = 2) -> bytes:
    """The same drawing as the bytes of a PNG file, `scale` pixels for every unit."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (drawing.width * scale, drawing.height * scale), PAPER)
    pencil = ImageDraw.Draw(picture)
    for mark in drawing.marks:
        _paint(pencil, mark, scale)
    kept = BytesIO()
    picture.save(kept, "PNG")
    return kept.getvalue()


def _paint(pencil: Any, mark: Mark, scale: int) -> None:
    match mark:
        case Line(x, y, to_x, to_y, colour, width):
            pencil.line([x * scale, y * scale, to_x * scale, to_y * scale], colour, max(1, round(width * scale)))
        case Dot(x, y, radius, colour):
            box = [(x - radius) * scale, (y - radius) * scale, (x + radius) * scale, (y + radius) * scale]
            pencil.ellipse(box, colour)
        case Bar(x, y, width, height, colour):
            pencil.rectangle([x * scale, y * scale, (x + width) * scale, (y + height) * scale], colour)
        case Words(x, y, text, anchor, size):
            from PIL import ImageFont

            side = {"start": "ls", "middle": "ms", "end": "rs"}[anchor]
            pencil.text((x * scale, y * scale), text, INK, ImageFont.load_default(size * scale), anchor=side)
