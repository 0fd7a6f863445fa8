"""What an instrument finds as markup: one small set of pictures for the page, for notebooks and for exports."""

import io
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image

from playground.analysis.finding import (
    Bars,
    Coded,
    Curve,
    Finding,
    Matrix,
    Rows,
    Scatter,
    Table,
    Tree,
    Words,
    plain,
    same_rows,
)
from playground.analysis.inspection import Inspection
from playground.glossary import hover
from widgets.bundle import sheet
from widgets.charts.columns import ticks
from widgets.charts.legend import COLOURS
from widgets.design_tokens import BLUE, GREY, VERMILION
from widgets.static.svg import BOLD, dot, levels, rect, words

STYLE = sheet(__file__)

WIDE, LETTER = 640, 6.4
"""Pixels of a picture, and of a letter in it."""

MOST_ROWS, MOST_CELLS, MOST_SENTENCES = 60, 1_600, 12
"""Rows of a plain table, cells that are drawn one by one, and sentences that are shown; files have all."""

MOST_NAMED = 60
"""Points of a map that have their names next to them."""

HINT = "Drag around points to list them; Escape clears the selection."
RING = "Drag the ring over the cells, press a cell, or move it with the arrow keys: its numbers are listed here."


def inspection(made: Inspection, panel: str = "") -> str:
    """What an instrument found: of one model; of several side by side, over steps as a film, with what they come to."""
    each = {name: markup(finding, panel) for name, finding in made.found.items()}
    if made.summary is None:
        return next(iter(each.values()))
    together = markup(made.summary, panel)
    if made.over == "steps":
        return film(each) + together
    sections = "".join(f'<section><p class="asked">{escape(name)}</p>{drawn}</section>' for name, drawn in each.items())
    beside = f'<div class="side-by-side">{sections}</div>'
    if made.over == "seeds":
        return f"{together}<details><summary>Each seed</summary>{beside}</details>"
    return beside + together


def film(frames: Mapping[str, str]) -> str:
    """Frames of which one is seen at a time: chosen by its name, or played in turn; without a script."""
    name, number = f"frames{zlib.crc32(''.join(frames.values()).encode()):x}", len(frames)
    last = ["", *([""] * (number - 2)), " checked"]
    chosen = [
        f'<label><input type="radio" name="{name}" class="at{k}"{last[k]}> {escape(said)}</label>'
        for k, said in enumerate(frames)
    ]
    rules = [
        f"@keyframes {name} {{ 0% {{ visibility: visible; }} {100 / number:.3f}% {{ visibility: hidden; }} }}",
        f"#{name}:has(.play:checked) .frame {{ animation: {name} {number}s step-end infinite; }}",
        *(f"#{name}:has(.at{k}:checked) .frame{k} {{ visibility: visible; }}" for k in range(number)),
    ]
    drawn = "".join(
        f'<div class="frame frame{k}" style="animation-delay:{k - number}s">{each}</div>'
        for k, each in enumerate(frames.values())
    )
    play = '<label><input type="checkbox" class="play"> Play</label>'
    return (
        f'<div id="{name}" class="film"><style>{" ".join(rules)}</style>'
        f'<div class="steps">{"".join(chosen)}{play}</div><div class="frames">{drawn}</div></div>'
    )


def markup(finding: Finding, panel: str = "") -> str:
    """A finding: its headline, its numbers beside what they compare to, its tables; `panel` is a map to be enlarged."""
    drawn = "".join(pictures(finding.tables, panel))
    return f'<p class="headline">{escape(finding.headline)}</p>{numbers(finding)}{notes(finding)}{drawn}'


def pictures(tables: Sequence[Table], panel: str = "") -> Iterator[str]:
    """All tables; matrices of the same rows and columns that follow each other stand side by side."""
    groups: list[list[Table]] = []
    for table in tables:
        plain_matrix = isinstance(table.drawing, Matrix) and not table.drawing.panel_row
        if plain_matrix and groups and same_rows([groups[-1][-1], table]) is not None:
            groups[-1].append(table)
        else:
            groups.append([table])
    for group in groups:
        drawn = [picture(table, panel) for table in group]
        sections = "".join(f"<section>{each}</section>" for each in drawn)
        yield _ringed(group[0], drawn[0] if len(group) == 1 else f'<div class="side-by-side">{sections}</div>')


def _ringed(table: Table, drawn: str) -> str:
    """Matrices over which a ring is dragged (`lists/ring.js`), and what lists the numbers of its cell."""
    if not (isinstance(table.drawing, Matrix) and table.drawing.ring):
        return drawn
    names = f'data-down="{escape(table.drawing.row)}" data-across="{escape(table.drawing.column)}"'
    return f'<div data-ring {names}><p class="caught" role="status">{RING}</p>{drawn}</div>'


def notes(finding: Finding) -> str:
    """What was not read as it was asked for; of many sentences two are seen at once."""
    first, rest = (" ".join(map(escape, part)) for part in (finding.notes[:2], finding.notes[2:]))
    more = f"<details><summary>More notes on the data ({len(finding.notes) - 2})</summary>{rest}</details>"
    return f'<div class="n quiet">{first}{more if rest else ""}</div>' if first else ""


def numbers(finding: Finding) -> str:
    """Every number with its unit, and what it compares to below."""
    cells = [
        f"<div{hover(n.name)}><b>{shown(n.value)}</b><span>{escape(' · '.join(filter(None, (n.name, n.unit))))}</span>"
        + "".join(f"<span>{escape(name)} {shown(value)}</span>" for name, value in n.baselines.items())
        + "</div>"
        for n in finding.numbers
    ]
    sample = f'<p class="n quiet">n = {escape(finding.sample)}</p>' if finding.n else ""
    return (f'<div class="numbers">{"".join(cells)}</div>' if cells else "") + sample


def picture(table: Table, panel: str = "") -> str:
    """One table as it is to be drawn, with its title, its unit and its note."""
    draw = partial(matrix, panel=panel) if isinstance(table.drawing, Matrix) else DRAWINGS[type(table.drawing)]
    body = draw(table) if len(table) else '<p class="quiet">Nothing to draw.</p>'
    unit = f' <span class="unit">({escape(table.unit)})</span>' if table.unit else ""
    note = f'<p class="quiet">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<figure class="finding"><figcaption{hover(table.title)}>{escape(table.title)}{unit}</figcaption>'
        f'<div class="scroll">{body}</div>{note}</figure>'
    )


def shown(value: float) -> str:
    """A number as it stands on screen."""
    if not isfinite(value):
        return "–"
    if float(value).is_integer() or abs(value) >= 1e4:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.3g}"
    return f"{value:.3g}"


# bars and lines


def bars(table: Table) -> str:
    """Horizontal bars from 0, those of one label beneath each other."""
    drawing = _as(Bars, table)
    labels, values = _text(table, drawing.label), _floats(table, drawing.value)
    groups = _text(table, drawing.group) if drawing.group else [""] * len(labels)
    colours = _colours(groups)
    left = 16 + LETTER * min(34, max(map(len, labels)))
    edges = _floats(table, drawing.low) + _floats(table, drawing.high) if drawing.low and drawing.high else []
    x_of = _scale([0.0, *values, *edges, *table.lines.values(), *table.scale], left, WIDE - 60)
    parts, y, before, top = [], 22.0, "", 22.0
    for k, (label, value, group) in enumerate(zip(labels, values, groups, strict=True)):
        if label != before:
            y += 5 if before else 0
            parts.append(words(left - 8, y + 12, label[:34], "end"))
        said = f"{label} {group}: {value:.4g} {table.unit}"
        x, end = sorted((x_of(0.0), x_of(value if isfinite(value) else 0.0)))
        parts.append(rect(x, y, max(end - x, 0.5), 13, colours[group], 0.85, title=said))
        most = max(value, 0.0)
        if edges and isfinite(value):
            low, most = edges[k], max(most, edges[k + len(labels)])
            parts.append(
                f'<path d="M{x_of(low):.1f} {y + 6.5}H{x_of(edges[k + len(labels)]):.1f}" stroke="currentColor"/>'
            )
        parts.append(words(x_of(most) + 5 if isfinite(value) else left, y + 11, shown(value)))
        before, y = label, y + 15
    parts += _upright(table.lines, x_of, top - 6, y)
    parts.append(f'<path d="M{x_of(0.0):.1f} {top - 4}V{y:.1f}" stroke="#8889"/>')
    return _legend(colours) + _svg("".join(parts), WIDE, y + 22, table.title)


def curve(table: Table) -> str:
    """Lines over numbers or names, a colour for each group, with bands and levels to compare with."""
    drawing = _as(Curve, table)
    named, values = plain(table.columns[drawing.x]), _floats(table, drawing.y)
    groups = _text(table, drawing.group) if drawing.group else [""] * len(values)
    names = list(dict.fromkeys(named)) if any(isinstance(x, str) for x in named) else []
    at = [float(names.index(x)) for x in named] if names else [float(x) for x in named]
    low, high = (_floats(table, c) if c else values for c in (drawing.low, drawing.high))
    known = [*low, *high, *values, *table.lines.values(), *table.scale]
    x, y = _scale(at, 60, WIDE - 16, 0.0), _scale(known, 224, 12)
    parts = [*levels(y, *_ends(known), 60, WIDE - 16)]
    marks = [(float(k), name) for k, name in enumerate(names)] or [(v, f"{v:g}") for v in ticks(min(at), max(at), 7)]
    turned = len(names) * LETTER * max(map(len, names), default=0) > WIDE - 80
    for value, name in marks:
        more = f' transform="rotate(-28 {x(value):.1f} 240)"' if turned else ""
        middle = min(x(value), WIDE - LETTER * len(name) / 2)  # the last name ends within the picture
        parts.append(words(x(value) if turned else middle, 242, name, "end" if turned else "middle", more=more))
    colours = _colours(groups)
    for name, colour in colours.items():
        rows = sorted((k for k, group in enumerate(groups) if group == name), key=lambda k: at[k])
        rows = [k for k in rows if isfinite(values[k])]
        if drawing.low and drawing.high:
            edge = [(at[k], low[k]) for k in rows] + [(at[k], high[k]) for k in reversed(rows)]
            parts.append(f'<path d="{_path(edge, x, y)}z" fill="{colour}" fill-opacity=".18"/>')
        line = _path([(at[k], values[k]) for k in rows], x, y)
        parts.append(f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [dot(x(at[k]), y(values[k]), colour, f"{name} {named[k]}: {values[k]:.4g}") for k in rows]
    for name, value in table.lines.items():
        parts.append(f'<path d="M60 {y(value):.1f}H{WIDE - 16}" stroke="{GREY}" stroke-dasharray="5 4"/>')
        parts.append(words(WIDE - 18, y(value) - 4, f"{name} {shown(value)}", "end"))
    foot = 280 if turned else 264
    parts.append(words(WIDE - 16, foot - 4, drawing.x, "end", more=BOLD))
    return _legend(colours) + _svg("".join(parts), WIDE, foot, table.title)


def scatter(table: Table) -> str:
    """Points in a plane, a colour for each group; on a page a lasso (`lists/lasso.js`) lists those that it holds."""
    drawing = _as(Scatter, table)
    across, up = _floats(table, drawing.x), _floats(table, drawing.y)
    groups = _text(table, drawing.group) if drawing.group else [""] * len(up)
    labels = _text(table, drawing.label) if drawing.label else [""] * len(up)
    x, y, colours = _scale(across, 60, WIDE - 16), _scale(up, 320, 12), _colours(groups)
    parts = [
        *levels(y, *_ends(up), 60, WIDE - 16),
        *(words(x(v), 338, f"{v:g}", "middle") for v in ticks(*_ends(across), 7)),
    ]
    named = len(up) <= MOST_NAMED and drawing.label and max(map(len, labels)) < 16
    for k, group in enumerate(groups):
        if isfinite(across[k]) and isfinite(up[k]):
            point = dot(x(across[k]), y(up[k]), colours[group], f"{labels[k]} {group}".strip())
            name = words(x(across[k]) + 5, y(up[k]) - 4, labels[k]) if named else ""
            parts.append(f'<g data-label="{escape(labels[k] or group)}">{point}{name}</g>')
    parts += [words(WIDE - 16, 356, drawing.x, "end", more=BOLD), words(60, 10, drawing.y, more=BOLD)]
    drawn = _legend(colours) + _svg("".join(parts), WIDE, 360, table.title)
    rows = f"<details><summary>The points as a table</summary>{plain_rows(table)}</details>"  # for who sees none
    return f'<div data-lasso="">{drawn}<p class="quiet caught" role="status">{HINT}</p></div>{rows}'


# matrices


def matrix(table: Table, panel: str = "") -> str:
    """Cells in colour: blue for more, orange for less than 0; many matrices stand in a grid, one of them enlarged."""
    drawing = _as(Matrix, table)
    if drawing.panel_row:
        grid = panels(table)
        return grid + enlarged(table, panel) if panel else grid
    (rows, columns), cells = _cells(table, drawing.row, drawing.column)
    said = None
    if drawing.text:
        said = np.full(cells.shape, "", dtype=object)
        said[_index(table, drawing.row, rows), _index(table, drawing.column, columns)] = plain(
            table.columns[drawing.text]
        )
    return one_matrix(cells, rows, columns, table.title, said, table.scale, table.paths)


def one_matrix(
    cells: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str, said: np.ndarray | None = None,
    scale: Sequence[float] = (), paths: Mapping[str, Sequence[tuple[float, float]]] = MappingProxyType({}),
) -> str:  # fmt: skip
    """A matrix with its names; few cells are drawn one by one and say their values, many are one image."""
    few = cells.size <= MOST_CELLS
    left, top = 12 + LETTER * min(24, max(map(len, rows))), 14 + LETTER * 0.8 * min(24, max(map(len, columns)))
    longest = max((len(str(text)) for text in said.flat), default=0) if said is not None else 0
    wide = min(110.0, max(16.0, (WIDE - left) / len(columns), 7.0 * longest)) if few else max(3.0, 900 / len(columns))
    high = 20.0 if few else max(3.0, 700 / len(rows))
    parts, most = [], _most(cells, scale)
    for k, name in enumerate(rows):
        if high >= 8 or k % 8 == 0:
            parts.append(words(left - 6, top + high * (k + 0.5) + 4, name[:24], "end", size=11 if high >= 11 else 8))
    for k, name in enumerate(columns):
        if wide >= 8 or k % 8 == 0:
            x = left + wide * (k + 0.5)
            more = f' transform="rotate(-45 {x:.1f} {top - 6:.1f})"'
            parts.append(words(x, top - 6, name[:24], size=11 if wide >= 11 else 8, more=more))
    if not few:
        parts.append(_image(cells, most, left, top, wide * len(columns), high * len(rows)))
    for (i, j), value in np.ndenumerate(cells) if few else ():
        if not isfinite(value):
            continue
        x, y, text = left + wide * j, top + high * i, "" if said is None else str(said[i, j])
        number = f"{value:.4g} {text}".rstrip()
        name = f"{rows[i]} × {columns[j]}: {number}"
        cell = {"cell": f"{i},{j}", "down": rows[i], "across": columns[j], "value": number}
        named = "".join(f' data-{key}="{escape(each)}"' for key, each in cell.items())
        colour, alpha = (BLUE if value >= 0 else VERMILION), 0.04 + 0.9 * abs(value) / most
        parts.append(rect(x, y, wide - 1, high - 1, colour, alpha, named, title=name))
        if text:
            parts.append(words(x + wide / 2, y + 14, text, "middle", size=10, more=' pointer-events="none"'))
    for path in paths.values():
        across, down = (
            _between(names, way) for names, way in zip((columns, rows), zip(*path, strict=True), strict=True)
        )
        points = [(left + wide * (x + 0.5), top + high * (y + 0.5)) for x, y in zip(across, down, strict=True)]
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path d="{line}" fill="none" stroke="{VERMILION}" stroke-width="2" pointer-events="none"/>')
    width = max(left + wide * len(columns) + top * 0.7, 200)
    return _svg("".join(parts), width, top + high * len(rows) + 6, title)


def _between(names: Sequence[str], values: Sequence[float]) -> list[float]:
    """Where values lie among rows or columns that are named by numbers in order: 0.5 is halfway from the first on."""
    order = np.argsort(numbers := np.array(names, dtype=float))
    return np.interp(values, numbers[order], order).tolist()


def panels(table: Table) -> str:
    """Many matrices as one image, each of which can be pressed."""
    drawing = _as(Matrix, table)
    (down, across, *_), cells = _cells(table, drawing.panel_row, drawing.panel_column, drawing.row, drawing.column)
    most, side = _most(cells, table.scale), min(150.0, max(58.0, 620 / len(across)))
    labels = _panel_labels(table, down, across)
    gap = max(1, cells.shape[2] // (7 if labels else 16))  # a label stands in the gap below its matrix
    height, width = cells.shape[2] + gap, cells.shape[3] + max(1, cells.shape[3] // 16)
    whole = np.full((len(down) * height, len(across) * width), np.nan)
    for (i, j), _ in np.ndenumerate(cells[:, :, 0, 0]):
        whole[i * height : i * height + cells.shape[2], j * width : j * width + cells.shape[3]] = cells[i, j]
    left, top = 60, 26
    parts = [_image(whole, most, left, top, side * len(across), side * len(down))]
    parts += [
        words(left - 8, top + side * (k + 0.5), f"{drawing.panel_row} {name}", "end") for k, name in enumerate(down)
    ]
    parts += [words(left + side * (k + 0.45), top - 8, name, "middle") for k, name in enumerate(across)]
    high, wide = side * cells.shape[2] / height, side * cells.shape[3] / width
    for i, j in np.ndindex(len(down), len(across)):
        said = f"{drawing.panel_row} {down[i]}, {drawing.panel_column} {across[j]}"
        if label := labels.get((i, j)):
            parts.append(words(left + side * j, top + side * i + high + 12, label[: int(wide / 5.6)], size=10))
            said += f": {label}"
        x, y = left + side * j, top + side * i
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="#0000" stroke="#8885" '
            f'tabindex="0" role="button" data-act="panel" data-name="{escape(f"{down[i]},{across[j]}")}" '
            f'aria-label="{escape(said)}"><title>{escape(said)}</title></rect>'
        )
    parts.append(words(left - 8, top - 8, drawing.panel_column, "end", more=BOLD))
    return _svg("".join(parts), left + side * len(across) + 8, top + side * len(down) + 4, table.title, "group")


def enlarged(table: Table, panel: str) -> str:
    """One of many matrices, with its names."""
    drawing = _as(Matrix, table)
    names = drawing.panel_row, drawing.panel_column, drawing.row, drawing.column
    (down, across, *sides), cells = _cells(table, *names)
    row, _, column = panel.partition(",")
    if row not in down or column not in across:
        return ""
    title = f"{drawing.panel_row} {row}, {drawing.panel_column} {column}"
    drawn = one_matrix(cells[down.index(row), across.index(column)], *sides, title, None, table.scale)
    return f'<p class="label">{escape(title)}: {escape(drawing.row)} down, {escape(drawing.column)} across</p>{drawn}'


def _cells(table: Table, *names: str) -> tuple[list[list[str]], np.ndarray]:
    """The different values of some columns, and the cells with an axis for each of these."""
    orders = [_order(table, name) for name in names]
    cells = np.full([len(order) for order in orders], np.nan)
    at = tuple(_index(table, name, order) for name, order in zip(names, orders, strict=True))
    cells[at] = _array(table, _as(Matrix, table).value)
    return orders, cells


def _panel_labels(table: Table, down: Sequence[str], across: Sequence[str]) -> dict[tuple[int, int], str]:
    """What kind of matrix each panel is, by its place; nothing where none is said."""
    drawing = _as(Matrix, table)
    if not drawing.panel_label:
        return {}
    place = _index(table, drawing.panel_row, down) * len(across) + _index(table, drawing.panel_column, across)
    _, first = np.unique(place, return_index=True)
    kinds, names = _index(table, drawing.panel_label, order := _order(table, drawing.panel_label)), order
    return {divmod(int(place[k]), len(across)): names[kinds[k]] for k in first if names[kinds[k]] != "none"}


def _order(table: Table, name: str) -> list[str]:
    """The different values of a column as text, in the order in which they first appear."""
    if isinstance(column := table.columns[name], Coded):
        return list(column.names)
    values, first = np.unique(np.asarray(column), return_index=True)
    return [str(value) for value in values[np.argsort(first)]]


def _index(table: Table, name: str, order: Sequence[str]) -> np.ndarray:
    """The number of each row's value in an order of them."""
    if isinstance(column := table.columns[name], Coded):
        return column.codes
    values, x_of = np.unique(np.asarray(column), return_inverse=True)
    return np.array([order.index(str(value)) for value in values])[x_of]


def _most(cells: np.ndarray, scale: Sequence[float]) -> float:
    """The value that is drawn darkest, on a scale that several share or in these cells alone."""
    finite = np.abs(np.array(scale) if scale else cells[np.isfinite(cells)])
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0


def _image(cells: np.ndarray, most: float, x: float, y: float, width: float, height: float) -> str:
    """Cells as one image, transparent where they are 0, so that it reads on light and on dark."""
    share = np.nan_to_num(np.abs(cells) / most, posinf=1.0)
    level = (np.clip(share, 0, 1) ** 0.6 * 127).astype(np.uint8) + 128 * (np.nan_to_num(cells) < 0).astype(np.uint8)
    image = Image.fromarray(level).convert("P")
    image.putpalette(
        [int(colour[k : k + 2], 16) for colour in (BLUE, VERMILION) for _ in range(128) for k in (1, 3, 5)]
    )
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1, transparency=bytes(round(k * 255 / 127) for k in range(128)) * 2)
    data = b64encode(file.getvalue()).decode("ascii")
    return (
        f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


# sentences


def tree(table: Table) -> str:
    """Arcs from words to their heads, the true ones in grey below the sentence."""
    drawing = _as(Tree, table)
    return "".join(_one_tree(table, drawing, rows) for rows in _sentences(table, drawing.group))


def _one_tree(table: Table, drawing: Tree, rows: Sequence[int]) -> str:
    said = [_text(table, drawing.word)[k] for k in rows]
    found = [int(plain(table.columns[drawing.head])[k]) for k in rows]
    gold = [int(plain(table.columns[drawing.gold])[k]) for k in rows] if drawing.gold else []
    ends = np.cumsum([LETTER * len(word) + 20 for word in said])
    middles = [float(end) - (LETTER * len(word) + 20) / 2 for word, end in zip(said, ends, strict=True)]
    lift = 14.0 * max((abs(k - h) for k, h in enumerate(found) if h >= 0), default=1) ** 0.75 + 16
    sink = 14.0 * max((abs(k - h) for k, h in enumerate(gold) if h >= 0), default=0) ** 0.75 + (14 if gold else 4)
    y = lift + 12
    parts = [words(x, y, word, "middle") for x, word in zip(middles, said, strict=True)]
    true = {frozenset((k, h)) for k, h in enumerate(gold)}
    for k, head in enumerate(found):
        if head >= 0:
            right = not gold or frozenset((k, head)) in true
            parts.append(_arc(middles[k], middles[head], y - 14, -abs(k - head), BLUE if right else VERMILION))
    parts += [_arc(middles[k], middles[h], y + 6, abs(k - h), GREY) for k, h in enumerate(gold) if h >= 0]
    return _svg("".join(parts), float(ends[-1]), y + sink, " ".join(said))


def _arc(x: float, to: float, y: float, apart: float, colour: str) -> str:
    rise = 14 * abs(apart) ** 0.75 * (1 if apart > 0 else -1) * 1.3
    path = f"M{x:.1f} {y:.1f}C{x:.1f} {y + rise:.1f} {to:.1f} {y + rise:.1f} {to:.1f} {y:.1f}"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def coloured_words(table: Table) -> str:
    """Sentences whose words are coloured by their values and say more under the mouse."""
    drawing = _as(Words, table)
    said, values = _text(table, drawing.word), _floats(table, drawing.value)
    notes = _text(table, drawing.note) if drawing.note else [""] * len(said)
    most = max((abs(value) for value in values if isfinite(value)), default=1.0) or 1.0
    lines = [
        "".join(_word(said[k], values[k], notes[k], table.unit, most) for k in rows)
        for rows in _sentences(table, drawing.group)
    ]
    return "".join(f'<p class="sentence">{line}</p>' for line in lines)


def _word(word: str, value: float, note: str, unit: str, most: float) -> str:
    if not isfinite(value):
        return f"<span>{escape(word)}</span> "
    colour, share = VERMILION if value > 0 else BLUE, round(70 * abs(value) / most)
    looks = f"background:color-mix(in srgb, {colour} {share}%, transparent)"
    said = " · ".join(filter(None, (f"{value:.3g} {unit}".strip(), note)))
    return f'<span style="{looks}" title="{escape(said)}">{escape(word)}</span> '


def _sentences(table: Table, group: str) -> list[list[int]]:
    """The rows of each sentence, of the first few."""
    found: dict[str, list[int]] = {}
    for k, name in enumerate(_text(table, group) if group else [""] * len(table)):
        found.setdefault(name, []).append(k)
    return list(found.values())[:MOST_SENTENCES]


def plain_rows(table: Table) -> str:
    """A plain table; of a long one the beginning."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    columns = [plain(column)[:MOST_ROWS] for column in table.columns.values()]
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(shown(v) if isinstance(v, float) else str(v))}</td>' for v in row)}</tr>"
        for row in zip(*columns, strict=True)
    )
    more = f'<p class="quiet">The first {MOST_ROWS} of {len(table)} rows.</p>' if len(table) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


DRAWINGS: Mapping[type, Callable[[Table], str]] = {
    Bars: bars, Curve: curve, Scatter: scatter, Matrix: matrix, Tree: tree, Words: coloured_words, Rows: plain_rows,
}  # fmt: skip
"""What draws each kind of table."""


# elements


def _as(kind: type[Any], table: Table) -> Any:
    assert isinstance(table.drawing, kind)
    return table.drawing


def _array(table: Table, name: str) -> np.ndarray:
    return np.asarray(table.columns[name], dtype=float)


def _floats(table: Table, name: str) -> list[float]:
    return _array(table, name).tolist()


def _text(table: Table, name: str) -> list[str]:
    return [str(value) for value in plain(table.columns[name])]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    finite = [value for value in values if isfinite(value)]
    return min(finite, default=0.0), max(finite, default=1.0)


def _scale(values: Sequence[float], start: float, end: float, room: float = 0.04) -> Callable[[float], float]:
    """Where a value stands between two places, with a little room beyond the lowest and the highest."""
    low, high = _ends(values)
    spare = room * (high - low)
    low, high = (low - spare if low < 0 or (room and low > 0) else low), high + spare
    return lambda value: start + (end - start) * (value - low) / max(high - low, 1e-12)


def _upright(lines: Mapping[str, float], x_of: Callable[[float], float], top: float, foot: float) -> Iterator[str]:
    for name, value in lines.items():
        yield f'<path d="M{x_of(value):.1f} {top}V{foot:.1f}" stroke="{GREY}" stroke-dasharray="5 4"/>'
        yield words(x_of(value), foot + 14, f"{name} {shown(value)}", "middle")


def _path(points: Sequence[tuple[float, float]], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    return "M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points) if points else "M0 0"


def _colours(groups: Sequence[str]) -> dict[str, str]:
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(dict.fromkeys(groups))}


def _legend(colours: Mapping[str, str]) -> str:
    if len(colours) < 2:
        return ""
    marks = "".join(
        f'<span style="margin-right:16px"><span style="color:{colour}">■</span> {escape(name)}</span>'
        for name, colour in colours.items()
    )
    return f'<p class="quiet">{marks}</p>'


def _svg(body: str, width: float, height: float, title: str, role: str = "img") -> str:
    """A picture in the colour of the text around it, as large as it is drawn."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" style="font-family:system-ui,sans-serif" role="{role}" aria-label="{escape(title)}">'
        f"{body}</svg>"
    )
