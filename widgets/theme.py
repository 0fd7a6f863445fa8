"""Small pieces that look the same on every page; text that a person typed goes through `say` and nothing else."""

from html import escape
from typing import Any

import panel as pn
import param
from bokeh.models import Axis, Title
from bokeh.plotting import figure

from playground.glossary import explain
from widgets.design_tokens import ORANGE, VERMILION
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

STYLE = f"""
:host {{ color: var(--panel-on-background-color, CanvasText); font-family: inherit; line-height: 1.45;
  font-size: var(--type, clamp(1rem, 8px + 0.4vw, 24px)); }}
p {{ margin: 0 0 .5em; overflow-wrap: anywhere; }}
.quiet {{ opacity: .72; font-size: .9em; }}
.label {{ opacity: .62; font-size: .72em; letter-spacing: .06em; text-transform: uppercase; margin: .9em 0 .2em; }}
.number {{ font-variant-numeric: tabular-nums; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 6px 26px; font-variant-numeric: tabular-nums; }}
.figures div {{ min-width: 92px; }}
.figures b {{ display: block; font-size: 1.2em; font-weight: 600; line-height: 1.25; }}
.figures span {{ display: block; opacity: .62; font-size: .78em; line-height: 1.2; }}
.trouble {{ border-left: 3px solid {VERMILION}; padding: .5em .8em; background: #d55e0018; border-radius: 4px; }}
.notice {{ border-left: 3px solid {ORANGE}; padding: .5em .8em; background: #e69f0018; border-radius: 4px; }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; font-weight: 500; opacity: .62; font-size: .8em; padding: 4px 10px 4px 0; }}
td {{ padding: 5px 10px 5px 0; border-top: 1px solid #8884; vertical-align: middle; }}
.wide {{ overflow-x: auto; }}
.wide table {{ border-collapse: separate; border-spacing: 0; }}
.wide td {{ white-space: nowrap; padding-right: 14px; }}
.wide th {{ vertical-align: bottom; padding-right: 14px; }}
.wide td:last-child {{ padding-right: 4px; }}
.wide :is(th, td):first-child {{ position: sticky; left: 0; z-index: 1;
  background: var(--panel-background-color, Canvas); }}
.wide th[scope=row] {{ white-space: nowrap; opacity: 1; font-size: 1em; padding: 5px 14px 5px 0; vertical-align: middle;
  border-top: 1px solid #8884; }}
.wide .loose {{ white-space: normal; min-width: 185px; }}
code {{ font-size: .86em; word-break: break-word; }}
math {{ font-size: 1.12em; }}
"""


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
