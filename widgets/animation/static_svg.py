"""A frame of the stage as a still picture, for where no script runs."""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from widgets.animation.record import Record
from widgets.design_tokens import TOKENS

WIDTH, PAD, GUTTER, STRIP = 960, 20, 116, 16
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"


def mix(first: str, second: str, share: float) -> str:
    """A colour so far on the way from one `#rrggbb` to another."""
    ends = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in (first, second)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


HUES, INK, PAPER = TOKENS["palette"], TOKENS["still"]["ink"], TOKENS["still"]["paper"]
COLOURS = (
    {"ink": INK, "paper": PAPER, "transparent": mix(PAPER, INK, 0.4), "": "none"}
    | {"visible": mix(PAPER, mix(HUES["blue"], HUES["sky"], 0.35), 0.8), "leaked": mix(PAPER, HUES["vermilion"], 0.4)}
    | {name: mix(PAPER, INK, light) for name, (light, _) in TOKENS["shades"].items()}
    | {f"tint {name}": mix(PAPER, hue, 0.16) for name, hue in HUES.items()}
    | {f"strong {name}": mix(hue, "#000000", 0.08) for name, hue in HUES.items()}
)
"""The colours of `design_tokens.json` as `theme.js` mixes them on white paper; a word is to be read in every state."""


def still(record: Record) -> str:
    """The last frame as an image with its words in a table, made of tags that sanitisers keep."""
    if "records" in record:
        return "".join(still(part) for part in record["records"])
    frame = _frame(record, -1)
    picture = base64.b64encode(svg(record).encode()).decode()
    caption = _text(f"{record.get('title', '')}: {frame.get('caption', '')}")
    rows = ""
    for lane in frame.get("lanes", ()):
        words = "".join(f"<td>{_text(cell['text'])}</td>" for cell in lane["cells"])
        rows += f"<tr><th>{_text(_title(lane))}</th>{words}</tr>"
        for ids in lane.get("ids", ()):
            known = (ids["words"][value] if ids["words"] else value for value in ids["values"])
            words = "".join(f"<td>{_text(word)}</td>" for word in known)
            rows += f"<tr><th>{_text(ids['title'].removesuffix(':'))}</th>{words}</tr>"
    return (
        f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{picture}"><figcaption>{caption}</figcaption>'
        f"<details><summary>The same as a table</summary><table>{rows}</table></details></figure>"
    )


def svg(record: Record, frame: int | str = -1) -> str:
    """One frame, by number or name, as a drawing whose text is text; of several records the first."""
    record = record.get("records", [record])[0]
    chosen = _frame(record, frame)
    caption = wrap(f"{chosen.get('title', '')} - {chosen.get('caption', '')}", 126)
    lanes, top = _lanes(chosen.get("lanes", ()), 66 + 18 * len(caption))
    matrices, bottom = _matrices(chosen.get("matrices", ()), top + 10)
    height = round(max(top, bottom) + PAD)
    hatch = _tag("rect", width=6, height=6, fill=COLOURS["blocked"])
    hatch += _tag("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", stroke=COLOURS["hatch"])
    parts = (
        _tag("title", _text(chosen.get("caption", ""))),
        _tag("pattern", hatch, id="hatch", width=6, height=6, patternUnits="userSpaceOnUse"),
        _tag("rect", width=WIDTH, height=height, rx=10, fill=PAPER),
        _words(PAD, 34, record.get("title", ""), 20, font_weight=650),
        *(_words(PAD, 58 + 18 * i, line, 14, "muted") for i, line in enumerate(caption)),
    )
    position = {"viewBox": f"0 0 {WIDTH} {height}", "width": WIDTH, "height": height, "font_family": FONT}
    return _tag("svg", "".join((*parts, *lanes, *matrices)), xmlns="http://www.w3.org/2000/svg", role="img", **position)


def _frame(record: Record, which: int | str) -> Record:
    frames = record.get("frames") or [{"title": "Nothing to show", "caption": "There is no text yet."}]
    if isinstance(which, int):
        return frames[max(-len(frames), min(which, len(frames) - 1))]
    return next((frame for frame in frames if frame["name"] == which), frames[-1])


def _lanes(lanes: Sequence[Record], top: float) -> tuple[list[str], float]:
    """All lanes on one grid of equal chips, and where they end."""
    cells = [cell for lane in lanes for cell in lane["cells"]]
    count = max((len(lane["cells"]) for lane in lanes), default=0)
    size = 15 if count <= 9 else 13 if count <= 14 else 11
    room = WIDTH - 2 * PAD - GUTTER
    natural = min(max((len(cell["text"]) for cell in cells), default=1), 12) * size * 0.6 + size * 1.4
    lines = -(-count // max(1, min(count, int(room // natural))))
    columns = max(1, -(-count // max(1, lines)))
    wide = min(room / columns, max(natural, 92))
    hangs = any(cell.get("was") for cell in cells)
    pitch = size * (3.3 if hangs else 2.9)
    parts: list[str] = []
    for lane in lanes:
        line_pitch = pitch + STRIP * len(lane.get("ids", ()))
        name = wrap(_title(lane), 13)[:2]  # in the margin, on two lines if it is long
        for i, line in enumerate(name):
            y = top + size * 1.5 + (i - (len(name) - 1) / 2) * 16
            parts.append(_words(PAD, y, line, 13, "muted", font_weight=600))
        for i, cell in enumerate(lane["cells"]):
            x, y = PAD + GUTTER + (i % columns) * wide, top + (i // columns) * line_pitch
            parts.extend(_chip(cell, lane["name"].startswith("targets"), x, y, wide - 6, size))
        for k, ids in enumerate(lane.get("ids", ())):
            for first, last, word in runs(ids, columns):
                x, y = PAD + GUTTER + (first % columns) * wide, top + (first // columns) * line_pitch
                across, y = (last - first + 1) * wide - 6, y + pitch - size * (0.2 if hangs else 0.6) + k * STRIP
                fill = COLOURS["line" if ids["words"] and ids["values"][first] % 2 else "chip"]
                box = {"x": x, "y": y, "width": across, "height": STRIP - 3, "rx": 4}
                parts.append(_tag("rect", **box, fill=fill, stroke=COLOURS["line"]))
                full = f"{ids['title']} {word}"
                shown = full if len(full) * 5.6 < across else word
                parts.append(_words(x + across / 2, y + 9.5, _cut(shown, across / 5.6), 10, "muted", "middle"))
        top += max(1, -(-len(lane["cells"]) // columns)) * line_pitch + 14
    return parts, top


def runs(ids: Record, columns: int) -> Iterator[tuple[int, int, str]]:
    """The runs of one id, or of positions that count on, in a line: first place, last place, and the word."""
    values, words = ids["values"], ids["words"]
    step, first = int(not words), 0
    for i, value in enumerate(values):
        if i + 1 < len(values) and (i + 1) % columns and values[i + 1] == value + step:
            continue
        word = words[value] if words else f"{values[first]}–{value}" if i > first else str(value)
        if word:
            yield first, i, word
        first = i + 1


def _chip(cell: Record, answers: bool, x: float, y: float, wide: float, size: int) -> Iterator[str]:
    """One token: box, word, ring if it is scored, badge with its order, and what it was before."""
    chips, scored, high = TOKENS["chips"], cell.get("scored"), size * 2.2
    look = chips["blank"] if answers and not scored else chips.get(cell.get("state", "kept"), chips["kept"])
    look = look | (chips["answer"] if answers and scored else {})
    edge = "strong green" if look.get("mark") == "ribbon" else look["edge"]  # moved
    fill, edge = COLOURS[look["fill"] or ""], COLOURS[edge]
    dash, round_ = " ".join(map(str, look.get("dash") or ())), high / 2 if look.get("pill") else 8
    yield _tag("rect", x=x, y=y, width=wide, height=high, rx=round_, fill=fill, stroke=edge, stroke_dasharray=dash)
    word = _cut(cell["text"], wide / size / 0.56)
    yield _words(x + wide / 2, y + high / 2 + size * 0.36, word, size, look["text"], "middle")
    if scored:
        yield _ring(x + 8, y + 8, 3.0)
    if cell.get("badge"):
        yield _tag("circle", cx=x + wide - 3, cy=y + 2, r=8.5, fill=COLOURS["strong purple"])
        yield _words(x + wide - 3, y + 6, cell["badge"], 10, "paper", "middle", font_weight=700)
    if cell.get("was"):
        low = y + high + size * 0.68
        yield _words(x + wide / 2, low, cell["was"], 9, "muted", "middle", text_decoration="line-through")


def _matrices(matrices: Sequence[Record], top: float) -> tuple[list[str], float]:
    """The matrices side by side with one cell size, and where they end."""
    if not matrices:
        return [], top
    margins = [min(90.0, max((len(row) for row in matrix["rows"]), default=1) * 6.6) + 26 for matrix in matrices]
    columns = sum(matrix["shape"][1] for matrix in matrices)
    side = min(30.0, (WIDTH - 2 * PAD - sum(margins) - 46 * (len(matrices) - 1)) / max(1, columns))
    side = min(side, 460 / max(max(matrix["shape"]) for matrix in matrices))
    longest = max(min(len(word), 12) for matrix in matrices for word in (*matrix["columns"], ""))
    head = 24 + (longest * 4.6 + 12) * (side >= LABELLED)
    x, parts = float(PAD), []
    for matrix, margin in zip(matrices, margins, strict=True):
        wide = margin + matrix["shape"][1] * side + 46
        title = _title(matrix) if len(_title(matrix)) * 7.4 < wide else _title(matrix).partition(":")[0]
        parts.append(_words(x, top + 12, _cut(title, wide / 7.4), 13, font_weight=600))
        parts.extend(_matrix(matrix, x + margin, top + head, side))
        x += wide
    return parts, top + head + max(matrix["shape"][0] for matrix in matrices) * side


LABELLED = 9.5  # the side of a cell from which on there is room for words along the axes
FILLS = ("url(#hatch)", *(COLOURS[name] for name in ("visible", "self", "blocked", "leaked")))
BORDERS = [[(low, low), (1 - low, low), (1 - low, 1 - low), (low, 1 - low), (low, low)] for low in (0.04, 0.2)]
MARKS = {2: [[(0.3, 0.3), (0.7, 0.7)], [(0.7, 0.3), (0.3, 0.7)]], 3: [[(0.45, 0.5), (0.55, 0.5)]], 4: BORDERS}
"""Lines in a cell of side 1: a cross where it cannot attend to itself, a dot for padding, two borders for a leak."""


def _matrix(matrix: Record, x: float, y: float, side: float) -> Iterator[str]:
    """The cells of a matrix, one path for each state and stretch of a row, with the words along both axes."""
    n, m = matrix["shape"]
    states = base64.b64decode(matrix["states"])
    for code, fill in enumerate(FILLS):
        runs = [(i, run) for i in range(n) for run in re.finditer(b"\\x%02x+" % code, states[i * m : i * m + m])]
        boxes = ((x + run.start() * side, y + i * side, len(run[0]) * side) for i, run in runs)
        if path := "".join(f"M{left:.1f} {up:.1f}h{wide:.1f}v{side:.1f}h{-wide:.1f}z" for left, up, wide in boxes):
            yield _tag("path", d=path, fill=fill)
    gaps = [f"M{x:.1f} {y + i * side:.1f}h{m * side:.1f}" for i in range(n + 1)]
    gaps += [f"M{x + j * side:.1f} {y:.1f}v{n * side:.1f}" for j in range(m + 1)]
    yield _tag("path", d="".join(gaps), stroke=PAPER, stroke_width=1.5 if side > 9 else 0.5)
    for code, strokes in MARKS.items():
        positions = [(x + k % m * side, y + k // m * side) for k in range(n * m) if states[k] == code]
        ways = ([f"{a + p * side:.1f} {b + q * side:.1f}" for p, q in line] for a, b in positions for line in strokes)
        if path := "".join("M" + "L".join(way) for way in ways):
            edge = COLOURS["strong vermilion" if code == 4 else "muted"]
            yield _tag("path", d=path, fill="none", stroke=edge, stroke_width=1.3)
    for i in (i for i, scored in enumerate(matrix.get("scored_rows") or ()) if scored):
        yield _ring(x - 9, y + (i + 0.5) * side, min(4.0, side / 4))
    size = min(12.0, side * 0.8)
    for i, word in enumerate(matrix["rows"] if side >= LABELLED else ()):
        yield _words(x - 18, y + (i + 0.5) * side + size * 0.36, _cut(word, 12), size, "muted", "end")
    for j, word in enumerate(matrix["columns"] if side >= LABELLED else ()):
        at = x + (j + 0.5) * side
        yield _words(at, y - 6, _cut(word, 12), size, "muted", transform=f"rotate(-45 {at:.1f} {y - 6:.1f})")


def _tag(element: str, inside: str = "", **attributes: Any) -> str:
    """An element of SVG with what stands in it; lengths are written with one decimal."""
    given = ""
    for name, value in attributes.items():
        given += f' {name.replace("_", "-")}="{round(value, 1) if isinstance(value, float) else value}"'
    return f"<{element}{given}>{inside}</{element}>"


def _ring(x: float, y: float, radius: float) -> str:
    return _tag("circle", cx=x, cy=y, r=radius, fill="none", stroke=COLOURS["strong orange"], stroke_width=1.7)


def _words(x: float, y: float, text: str, size: float, ink: str = "ink", anchor: str = "start", **more: Any) -> str:
    return _tag("text", _text(text), x=x, y=y, font_size=size, text_anchor=anchor, fill=COLOURS[ink], **more)


def _title(part: Record) -> str:
    return str(part.get("title") or part.get("name", ""))


def _cut(text: str, letters: float) -> str:
    return text if len(text) <= letters else text[: max(1, int(letters) - 1)] + "…"


def _text(value: Any) -> str:
    """Text that is safe in HTML and in XML, which allows no control characters."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "�", str(value)))
