"""Small pieces that look the same on every page; text that a person typed goes through `say` and nothing else."""

from html import escape
from typing import Any

import panel as pn
import param
from bokeh.models import Axis, Title
from bokeh.plotting import figure

from playground.glossary import explain
from widgets.bundle import sheet
from widgets.design_tokens import properties
from widgets.panel_compat import LiveText

__all__ = ["chart"]

LARGER = {2200: 1.25, 2800: 1.5, 3400: 1.75}
"""How much larger controls are on a screen of at least so many pixels, so that they are read from the same distance."""

GROWING = " ".join(
    f"@media (min-width: {px}px) {{ :host {{ zoom: {times}; --larger: {times}; --type: 1rem; }} }}"
    for px, times in LARGER.items()
)
"""The same as a style sheet; not for Bokeh's charts, which would no longer know where the pointer is."""

CHART_TYPE = {"text": 13, "axis-label-text": 13, "major-label-text": 11, "group-text": 11, "subgroup-text": 11}
"""Pixels of a chart's title, of the words along its axes and of its ticks, by Bokeh's names for them in CSS."""

STYLE = properties(":host") + sheet(__file__)


class Html(pn.pane.HTML):
    """A pane that is always visible, for Panel 1.9 fails where one is hidden or shown before it is drawn."""

    visible = param.Boolean(default=True, constant=True)


def html(markup: str, **parameters: Any) -> Html:
    """A pane of our own markup; every text in it that a person typed must have gone through `escape`."""
    looks = {"stylesheets": [STYLE], "sizing_mode": "stretch_width", "margin": (4, 10)}
    return Html(markup, **{**looks, **parameters})


def changing(markup: str) -> pn.pane.Bokeh:
    """A pane like `html` for what changes several times a second, which costs much less; `tell` changes it."""
    text = LiveText(
        text=escape(markup), stylesheets=[STYLE], disable_math=True, run_scripts=False, sizing_mode="stretch_width",
        margin=(4, 10),
    )  # fmt: skip
    return pn.pane.Bokeh(text, sizing_mode="stretch_width", margin=(4, 10))


def tell(pane: pn.pane.Bokeh, markup: str) -> None:
    """Give a pane made by `changing` other markup."""
    pane.object.text = escape(markup)


def say(text: object, kind: str = "") -> str:
    """Any text as a paragraph of markup, harmless whatever it holds."""
    return f'<p class="{kind}">{escape(str(text))}</p>' if str(text) else ""


def figures(named: dict[str, str]) -> str:
    """A row of numbers with their names below."""
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in named.items())
    return f'<div class="figures">{cells}</div>'


def growing(height: int) -> str:
    """A style sheet for a chart of this height: on a large screen its type grows as all other type does."""
    sheet = ""
    for px, times in LARGER.items():
        sizes = " ".join(f"--bk-{name}-font-size: {size * times:g}px;" for name, size in CHART_TYPE.items())
        sheet += f"@media (min-width: {px}px) {{ :host {{ min-height: {height * times:g}px; {sizes} }} }} "
    return sheet


def chart(height: int = 260, **parameters: Any) -> figure:
    """A quiet Bokeh figure without a logo, whose text follows the theme and grows with the screen."""
    plot = figure(
        **{
            "height": height,
            "stylesheets": [growing(height)],
            "sizing_mode": "stretch_width",
            "toolbar_location": None,
            "tools": "",
            "background_fill_alpha": 0,
            "border_fill_alpha": 0,
            "outline_line_color": None,
            "min_border_right": 24,
            **parameters,
        }
    )
    plot.grid.grid_line_alpha = 0.18
    plot.axis.minor_tick_line_color = None
    plot.axis.axis_line_alpha = 0.3
    plot.axis.major_tick_line_alpha = 0.3
    _explain(plot.title, "text")
    for axis in plot.axis:
        _explain(axis, "axis_label")
    return plot


def _explain(part: Axis | Title, label: str) -> None:
    """Let a title or an axis show the terms of its label, also of a later one, where the pointer rests on it."""

    def renew(_name: str, _old: str | None, text: str | None) -> None:
        terms = explain(text or "")
        part.html_attributes = {"title": terms} if terms else {}
        part.styles = {"pointer-events": "auto", "cursor": "help"} if terms else {}

    part.on_change(label, renew)
    renew(label, None, getattr(part, label))
