"""The systems of the zoo by year, with an arrow from each parent to what came of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, count, groupby

from playground.zoo import Entry, entries
from playground.zoo.surveys import family
from widgets.design_tokens import BLUE, GREEN, GREY, PURPLE, VERMILION
from widgets.static.svg import BOLD, rect, words

ROW, BOX, GAP, TOP, LETTER = 27, 21, 26, 34, 6.5
"""Pixels of a row and of a box in it, between columns, above the first row, and of a letter."""

MARKS = {
    "encoder": ("E", BLUE), "decoder": ("D", VERMILION), "encoder and decoder": ("ED", PURPLE),
    "recurrent": ("R", GREEN), "static": ("S", GREY),
}  # fmt: skip
"""Letters and colour of each family."""


@dataclass(frozen=True)
class Rect:
    """Where the box of an entry stands: its left edge, its upper edge and its width, in pixels."""

    x: float
    y: float
    width: float


def markup(chosen: str = "") -> str:
    """The whole zoo; the ancestors of the chosen entry and what came of it directly are drawn strongly."""
    every = entries()
    columns = _columns(every.values())
    rects, width = _rects(columns)
    height = TOP + ROW * max(map(len, columns.values())) + 8
    family_tree = {chosen, *_ancestors(chosen), *(name for name, entry in every.items() if entry.parent == chosen)}
    arrows = [
        _arrow(rects[e.parent], rects[e.name], chosen and {e.parent, e.name} <= family_tree)
        for e in every.values()
        if e.parent
    ]
    boxes = [_box(entry, rects[entry.name]) for entry in every.values()]
    drawn = "".join([*_years(columns, rects, height), *arrows, *boxes])
    said = f"Timeline of {len(every)} systems; an arrow leads from each to those derived from it"
    return (
        f'{_legend()}<div class="wide"><svg viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'role="group" style="display:block;min-width:{0.8 * width:.0f}px;max-width:100%;height:auto" '
        f'aria-label="{said}">{drawn}</svg></div>'
    )


def _ancestors(name: str) -> Iterator[str]:
    """The parent of an entry, and the parent of that, and so on."""
    while name and (name := entries()[name].parent):
        yield name


Columns = Mapping[tuple[int, int], Sequence[Entry]]
"""The entries of a year in the order in which they came of each other, by year and generation within it."""


def _columns(every: Iterable[Entry]) -> Columns:
    found: dict[tuple[int, int], list[Entry]] = {}
    for entry in every:
        born = sum(entries()[name].year == entry.year for name in _ancestors(entry.name))
        found.setdefault((entry.year, born), []).append(entry)
    return dict(sorted(found.items()))


def _rects(columns: Columns) -> tuple[dict[str, Rect], float]:
    """Where each entry stands, as near to the middle of what came of it as there is room, and the whole width."""
    most, ranks = max(map(len, columns.values())), _ranks()
    last = max(ranks.values())
    rects: dict[str, Rect] = {}
    x = 4.0
    for column in columns.values():
        width = 34 + LETTER * max(len(entry.name) for entry in column)
        ordered = sorted(column, key=lambda entry: ranks[entry.name])
        rows = _apart([ranks[entry.name] / last * (most - 1) for entry in ordered], most)
        for row, entry in zip(rows, ordered, strict=True):
            rects[entry.name] = Rect(x, TOP + ROW * row, width)
        x += width + GAP
    return rects, x - GAP + 4


def _ranks() -> dict[str, float]:
    """A number for each entry: those from which nothing came are counted, the others stand in the middle of these."""
    children = {name: [e.name for e in entries().values() if e.parent == name] for name in ("", *entries())}
    ranks: dict[str, float] = {}
    ends = count()

    def rank(name: str) -> float:
        below = [rank(child) for child in children[name]]
        ranks[name] = (below[0] + below[-1]) / 2 if below else float(next(ends))
        return ranks[name]

    rank("")
    return ranks


def _apart(rows: Sequence[float], most: int) -> list[float]:
    """Rows in their order with at least one between two of them, none outside of `most`."""
    down = accumulate(rows, lambda before, row: max(row, before + 1))
    up = accumulate(reversed([*down]), lambda after, row: min(row, after - 1), initial=float(most))
    return [*up][:0:-1]


def _years(columns: Columns, rects: Mapping[str, Rect], height: float) -> Iterator[str]:
    """Each year over its columns, and a line where it begins."""
    for year, keys in groupby(columns, key=lambda key: key[0]):
        x = rects[columns[next(keys)][0].name].x
        yield words(x, TOP - 10, str(year), size=13, more=BOLD)
        yield f'<path d="M{x - GAP / 2:.1f} {TOP - 22}V{height}" stroke="#8884" stroke-width="1"/>'


def _arrow(parent: Rect, child: Rect, strong: object) -> str:
    """A curve from the right edge of the parent to the left edge of the child."""
    x, y, to_x, to_y = parent.x + parent.width, parent.y + BOX / 2, child.x - 1, child.y + BOX / 2
    bend = min(70.0, (to_x - x) / 2)
    look = f'stroke="{BLUE}" stroke-width="2"' if strong else 'stroke="currentColor" stroke-opacity=".3"'
    return (
        f'<path d="M{x:.1f} {y:.1f}C{x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}'
        f'm-4.5 -3l4.5 3l-4.5 3" fill="none" {look}/>'
    )


def _box(entry: Entry, box: Rect) -> str:
    """A system that can be pressed; on paper of its own, so that arrows pass behind it."""
    letters, colour = MARKS[family(entry)]
    title = f"{entry.name}, {entry.year}, {family(entry)}: {entry.idea}"
    at = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{BOX}" rx="5"'
    return (
        f'<g data-row="{escape(entry.name)}" data-act="entry" data-name="{escape(entry.name)}" role="button" '
        f'tabindex="0" aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f'<rect {at} style="fill:var(--panel-background-color,Canvas)"/>'
        f'<rect class="box" {at} fill="{colour}" fill-opacity=".16" stroke="{colour}"/>'
        f"{words(box.x + 6, box.y + 14.5, letters, size=9, more=BOLD)}"
        f"{words(box.x + 25, box.y + 15, entry.name, size=12)}</g>"
    )


def _legend() -> str:
    """The letters and colours of the families."""
    parts, x = [], 1.0
    for name, (letters, colour) in MARKS.items():
        parts.append(rect(x, 1, 22, 16, colour, 0.16, f' rx="4" stroke="{colour}"'))
        parts.append(words(x + 11, 13, letters, "middle", size=9, more=BOLD) + words(x + 28, 13, name))
        x += 46 + LETTER * len(name)
    size = f'viewBox="0 0 {x:.0f} 18" width="{x:.0f}"'
    return f'<svg {size} style="max-width:100%" aria-hidden="true">{"".join(parts)}</svg>'
