"""How lines and points look, and the legend of a chart as text that wraps where there is no room."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from widgets.design_tokens import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, GREY)

DASHES = {"solid": "", "dashed": ' stroke-dasharray="6 4"', "dotted": ' stroke-dasharray="2 3"'}

MARKERS = {
    "circle": '<circle cx="13" cy="6" r="3.4"/>',
    "square": '<rect x="9.8" y="2.8" width="6.4" height="6.4"/>',
    "triangle": '<path d="M13 1.6 17 9.4H9Z"/>',
    "diamond": '<path d="M13 1.4 16.4 6 13 10.6 9.6 6Z"/>',
}
"""As many as share no factor with the colours, so that no two of 28 have both alike."""

STAR = {"star": '<path d="M13 0 14.5 4.2 19 4.3 15.4 7 16.7 11.3 13 8.7 9.3 11.3 10.6 7 7 4.3 11.5 4.2Z"/>'}
"""The marker of what is exact, which no strategy has."""


@dataclass(frozen=True)
class Mark:
    """How a line looks: its name, colour, dash, and the marker of its points."""

    name: str
    colour: str
    dash: str = "solid"
    shape: str = ""
    width: float = 2.2


def style(index: int) -> tuple[str, str]:
    """Colour and dash of the n-th strategy; after seven the colours come again with another dash."""
    return COLOURS[index % len(COLOURS)], list(DASHES)[index // len(COLOURS) % len(DASHES)]


def shape(index: int) -> str:
    """The marker of the n-th strategy, which differs between neighbours also without colours."""
    return list(MARKERS)[index % len(MARKERS)]


def key(marks: Sequence[Mark]) -> str:
    """All marks beside each other."""
    return f'<div style="display:flex;flex-wrap:wrap;gap:2px 18px;font-size:.9em">{"".join(map(_item, marks))}</div>'


def _item(mark: Mark) -> str:
    line = f'<line x1="0" x2="26" y1="6" y2="6" stroke="{mark.colour}" stroke-width="{mark.width}"'
    drawn = f'{line}{DASHES[mark.dash]}/><g fill="{mark.colour}">{(MARKERS | STAR).get(mark.shape, "")}</g>'
    picture = f'<svg width="26" height="12" aria-hidden="true" style="margin-right:4px">{drawn}</svg>'
    return f'<span style="white-space:nowrap">{picture} {escape(mark.name)}</span>'
