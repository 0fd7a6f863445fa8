"""A frame of the stage as a still picture, for where no script runs."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from textwrap import wrap
from typing import Any

from widgets.animation.record import Record
from widgets.tokens import TOKENS

SELF, PADDING, LEAKED = 2, 3, 4

WIDTH, PAD, GUTTER = 960, 20, 116
INK, MUTED, FAINT, LINE, TRACK, PAPER = (
    TOKENS["still"][name] for name in ("ink", "muted", "faint", "line", "track", "paper")
)
BLUE = TOKENS["still"]["visible"]
SKY, GREEN, ORANGE, VERMILION, PURPLE = (
    TOKENS["palette"][name] for name in ("sky", "green", "orange", "vermilion", "purple")
)

CHIP: Mapping[str, tuple[str, str, str, str]] = {
    "kept": (PAPER, LINE, INK, ""),
    "masked": ("#4f545c", "#4f545c", PAPER, ""),
    "randomised": ("#f9e6da", VERMILION, INK, ""),
    "graded_as_is": (PAPER, ORANGE, INK, "2 3"),
    "deleted": ("none", FAINT, FAINT, "4 4"),
    "moved": (PAPER, GREEN, INK, ""),
    "replaced": ("#f7e9f1", PURPLE, INK, ""),
    "same_by_luck": (PAPER, PURPLE, INK, ""),
    "inserted": ("#e4f3fc", SKY, INK, ""),
    "special": (TRACK, FAINT, MUTED, ""),
    "padding": ("none", LINE, FAINT, "1 4"),
}
"""Fill, edge, text and dashes of a chip by its state, in the colours of the live stage."""


def still(record: Record) -> str:
    """The last frame as an image with its words in a table, made of tags that sanitisers keep."""
    if "records" in record:
        return "".join(still(part) for part in record["records"])
    frame = _frame(record, -1)
    picture = base64.b64encode(svg(record).encode()).decode()
    caption = f"{record.get('title', '')}: {frame.get('caption', '')}"
    rows = "".join(_row(lane) for lane in frame.get("lanes", ()))
    return (
        f'<figure><img alt="{_text(caption)}" src="data:image/svg+xml;base64,{picture}">'
        f"<figcaption>{_text(caption)}</figcaption>"
        f"<details><summary>The same as a table</summary><table>{rows}</table></details></figure>"
    )


def _row(lane: Record) -> str:
    words = "".join(f"<td>{_text(cell['text'])}</td>" for cell in lane["cells"])
    return f"<tr><th>{_text(_title(lane))}</th>{words}</tr>"


def svg(record: Record, frame: int | str = -1) -> str:
    """One frame, by number or name, as a drawing whose text is text; of several records the first."""
    record = record.get("records", [record])[0]
    chosen = _frame(record, frame)
    parts: list[str] = [_label(PAD, 34, str(record.get("title", "")), 20, INK, weight=650)]
    parts.append(_label(PAD, 58, f"{chosen.get('title', '')} - {chosen.get('caption', '')}", 14, MUTED))
    lanes, top = _lanes(chosen.get("lanes", ()), 84)
    matrices, bottom = _matrices(chosen.get("matrices", ()), top + 10)
    body = "".join([*parts, *lanes, *matrices])
    height = round(max(top, bottom) + PAD)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">'
        f"<title>{_text(chosen.get('caption', ''))}</title>{HATCH}"
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{PAPER}"/>{body}</svg>'
    )


HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" '
    f'fill="#f3f4f6"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="{LINE}"/></pattern></defs>'
)


def _frame(record: Record, which: int | str) -> Record:
    frames = record.get("frames") or [{"title": "Nothing to show", "caption": "There is no text yet."}]
    if isinstance(which, int):
        return frames[max(-len(frames), min(which, len(frames) - 1))]
    return next((frame for frame in frames if frame["name"] == which), frames[-1])


def _lanes(lanes: Any, top: float) -> tuple[list[str], float]:
    """All lanes on one grid of equal chips, and where they end."""
    words = [cell["text"] for lane in lanes for cell in lane["cells"]]
    count = max((len(lane["cells"]) for lane in lanes), default=0)
    size = 15 if count <= 9 else 13 if count <= 14 else 11
    room = WIDTH - 2 * PAD - GUTTER
    natural = min(max((len(word) for word in words), default=1), 12) * size * 0.6 + size * 1.4
    across = max(1, min(count, int(room // natural)))
    lines = -(-count // across) if count else 0
    columns = -(-count // max(1, lines))
    wide = min(room / max(1, columns), max(natural, 92))
    pitch = size * (3.3 if any(cell.get("was") for lane in lanes for cell in lane["cells"]) else 2.9)
    parts: list[str] = []
    for lane in lanes:
        parts.extend(_heading(_title(lane), top + size * 1.5))
        for i, cell in enumerate(lane["cells"]):
            x, y = PAD + GUTTER + (i % columns) * wide, top + (i // columns) * pitch
            parts.append(_chip(cell, lane["name"], x, y, wide - 6, size))
        top += max(1, -(-len(lane["cells"]) // max(1, columns))) * pitch + 14
    return parts, top


def _heading(title: str, y: float) -> Iterator[str]:
    """The name of a lane in its margin, on two lines if it is long."""
    lines = wrap(title, 13)[:2]
    for i, line in enumerate(lines):
        yield _label(PAD, y + (i - (len(lines) - 1) / 2) * 16, line, 13, MUTED, weight=600)


def _chip(cell: Record, lane: str, x: float, y: float, wide: float, size: int) -> str:
    """One token: box, word, ring if it is graded, badge with its order, and what it was before."""
    fill, edge, ink, dash = CHIP.get(cell.get("state", "kept"), CHIP["kept"])
    if lane == "targets":
        fill, edge, ink, dash = ("#fcf1da", ORANGE, INK, "") if cell.get("graded") else ("none", LINE, FAINT, "")
    high = size * 2.2
    radius = high / 2 if cell.get("state") == "special" else 8
    parts = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="{radius:.1f}" fill="{fill}" '
        f'stroke="{edge}" stroke-dasharray="{dash}"/>',
        _label(x + wide / 2, y + high / 2 + size * 0.36, _cut(cell["text"], wide / size / 0.56), size, ink, "middle"),
    ]
    if spoken := cell.get("language"):
        dashes = {1: "", 2: "4 2.5"}.get(spoken, "")
        hue = BLUE if spoken == 1 else GREEN
        parts.append(
            f'<path d="M{x:.1f} {y + high * 0.2:.1f}v{high * 0.6:.1f}" stroke="{hue}" stroke-width="3" '
            f'stroke-dasharray="{dashes}"/>'
        )
    if cell.get("graded"):
        parts.append(_ring(x + 8, y + 8, 3))
    if cell.get("badge"):
        parts.append(f'<circle cx="{x + wide - 3:.1f}" cy="{y + 2:.1f}" r="8.5" fill="{PURPLE}"/>')
        parts.append(_label(x + wide - 3, y + 6, cell["badge"], 10, PAPER, "middle", 700))
    if cell.get("was"):
        parts.append(_label(x + wide / 2, y + high + size * 0.68, cell["was"], 9, MUTED, "middle", struck=True))
    return "".join(parts)


def _matrices(matrices: Any, top: float) -> tuple[list[str], float]:
    """The matrices side by side with one cell size, and where they end."""
    if not matrices:
        return [], top
    margins = [min(90.0, max((len(row) for row in matrix["rows"]), default=1) * 6.6) + 26 for matrix in matrices]
    columns = sum(matrix["shape"][1] for matrix in matrices)
    side = min(30.0, (WIDTH - 2 * PAD - sum(margins) - 46 * (len(matrices) - 1)) / max(1, columns))
    side = min(side, 460 / max(max(matrix["shape"]) for matrix in matrices))
    labelled = side >= 9.5
    head = (
        24 + (max(min(len(word), 12) for matrix in matrices for word in (*matrix["columns"], "")) * 4.6 + 12) * labelled
    )
    x, parts = float(PAD), []
    for matrix, margin in zip(matrices, margins, strict=True):
        parts.append(_label(x, top + 12, _title(matrix), 13, INK, weight=600))
        parts.extend(_matrix(matrix, x + margin, top + head, side, labelled))
        x += margin + matrix["shape"][1] * side + 46
    return parts, top + head + max(matrix["shape"][0] for matrix in matrices) * side


def _matrix(matrix: Record, x: float, y: float, side: float, labelled: bool) -> Iterator[str]:
    """The cells of a matrix, one path for each state and stretch of a row, with the words along both axes."""
    n, m = matrix["shape"]
    states = base64.b64decode(matrix["states"])
    for code, fill in enumerate(("url(#hatch)", BLUE, "#f3f4f6", TRACK, "#f3cfb3")):
        path = "".join(_runs(states, n, m, code, x, y, side))
        if path:
            yield f'<path d="{path}" fill="{fill}"/>'
    lines = [f"M{x:.1f} {y + i * side:.1f}h{m * side:.1f}" for i in range(n + 1)]
    lines += [f"M{x + j * side:.1f} {y:.1f}v{n * side:.1f}" for j in range(m + 1)]
    yield f'<path d="{"".join(lines)}" stroke="{PAPER}" stroke-width="{1.5 if side > 9 else 0.5}"/>'
    yield from _marks(states, n, m, x, y, side)
    for i, graded in enumerate(matrix.get("graded_rows") or ()):
        if graded:
            yield _ring(x - 9, y + (i + 0.5) * side, min(4, side / 4))
    if labelled:
        size = min(12.0, side * 0.8)
        for i, word in enumerate(matrix["rows"]):
            yield _label(x - 18, y + (i + 0.5) * side + size * 0.36, _cut(word, 12), size, MUTED, "end")
        for j, word in enumerate(matrix["columns"]):
            at = f"rotate(-45 {x + (j + 0.5) * side:.1f} {y - 6:.1f})"
            yield _label(x + (j + 0.5) * side, y - 6, _cut(word, 12), size, MUTED, extra=f' transform="{at}"')


def _runs(states: bytes, n: int, m: int, code: int, x: float, y: float, side: float) -> Iterator[str]:
    for i in range(n):
        row = states[i * m : (i + 1) * m]
        j = 0
        while j < m:
            end = j
            while end < m and row[end] == code:
                end += 1
            if end > j:
                wide = (end - j) * side
                yield f"M{x + j * side:.1f} {y + i * side:.1f}h{wide:.1f}v{side:.1f}h{-wide:.1f}z"
            j = max(end, j + 1)


def _marks(states: bytes, n: int, m: int, x: float, y: float, side: float) -> Iterator[str]:
    """What tells the states apart without colour: a cross, dots, a double border."""
    draw: Mapping[int, Callable[[float, float], str]] = {
        SELF: lambda a, b: (
            f"M{a + 0.3 * side:.1f} {b + 0.3 * side:.1f}l{0.4 * side:.1f} {0.4 * side:.1f}"
            f"m0 {-0.4 * side:.1f}l{-0.4 * side:.1f} {0.4 * side:.1f}"
        ),
        PADDING: lambda a, b: f"M{a + 0.45 * side:.1f} {b + 0.5 * side:.1f}h{0.1 * side:.1f}",
        LEAKED: lambda a, b: (
            f"M{a + 1:.1f} {b + 1:.1f}h{side - 2:.1f}v{side - 2:.1f}h{2 - side:.1f}z"
            f"M{a + 0.2 * side:.1f} {b + 0.2 * side:.1f}h{0.6 * side:.1f}v{0.6 * side:.1f}h{-0.6 * side:.1f}z"
        ),
    }
    for code, mark in draw.items():
        path = "".join(mark(x + (k % m) * side, y + k // m * side) for k in range(n * m) if states[k] == code)
        if path:
            yield f'<path d="{path}" fill="none" stroke="{VERMILION if code == LEAKED else MUTED}" stroke-width="1.3"/>'


def _ring(x: float, y: float, radius: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="none" stroke="{ORANGE}" stroke-width="1.7"/>'


def _label(
    x: float,
    y: float,
    text: str,
    size: float,
    fill: str,
    anchor: str = "start",
    weight: int = 400,
    struck: bool = False,
    extra: str = "",
) -> str:
    line = ' text-decoration="line-through"' if struck else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}"{line}{extra}>{_text(text)}</text>'
    )


def _title(part: Record) -> str:
    return str(part.get("title") or part.get("name", ""))


def _cut(text: str, letters: float) -> str:
    return text if len(text) <= letters else text[: max(1, int(letters) - 1)] + "…"


def _text(value: Any) -> str:
    """Text that is safe in HTML and in XML, which allows no control characters."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "�", str(value)))
