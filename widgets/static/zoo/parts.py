"""What the tables and cards of the zoo are made of."""

from html import escape

STYLE = """
:host { --main: var(--mui-palette-primary-main, #0072b2); --edge: color-mix(in srgb, currentColor 18%, transparent); }
.pressable { max-width: 100%; scroll-margin-top: 70px; }
.out { display: none; } g.out { display: inline; opacity: .16; }
tbody:not(:has(tr[data-row]:not(.out))) { display: none; }
.wide { max-height: min(72vh, 900px); overflow: auto; scrollbar-width: thin; }
.wide thead th { position: sticky; top: 0; z-index: 2; background: var(--panel-background-color, Canvas); opacity: 1;
  color: color-mix(in srgb, currentColor 72%, transparent); }
.wide thead th:first-child { z-index: 3; padding-left: 8px; }
.wide th.part { padding: 16px 0 4px 8px; position: static; opacity: .8; font-size: .8em; }
.wide tr[data-row] { cursor: pointer; }
.wide tr[data-row]:hover :is(td, th) { background: color-mix(in srgb, var(--main) 4%,
  var(--panel-background-color, Canvas)); }
.wide tr.chosen :is(td, th) { background: color-mix(in srgb, var(--main) 7%, var(--panel-background-color, Canvas)); }
.wide tr.chosen th { box-shadow: inset 3px 0 var(--main); } .wide th[scope=row] { padding-left: 8px; }
.wide table { font-size: .93em; } .wide .some { white-space: normal; min-width: 108px; }
.wide td, .wide th[scope=row] { vertical-align: top !important; }
small { display: block; opacity: .72; font-size: .82em; font-weight: 400; }
button { font: inherit; color: var(--main); background: none; border: 0; padding: 0; cursor: pointer;
  text-align: left; text-decoration: underline;
  text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
  text-underline-offset: 3px; border-radius: 2px; }
button:hover { text-decoration-color: currentColor; }
th button { font-weight: 600; }
button.act { text-decoration: none; font-size: .82em; font-weight: 500; padding: 3px 10px; border-radius: 4px;
  border: 1px solid color-mix(in srgb, var(--main) 50%, transparent); }
button.act:hover { background: color-mix(in srgb, var(--main) 8%, transparent); border-color: var(--main); }
button.main { background: #0072b2; color: #fff; border-color: #0072b2; padding: 6px 16px; font-size: .9em; }
button.main:hover { background: #005f95; }
:focus-visible { outline: 2px solid #3390d6; outline-offset: 2px; }
.number { text-align: right; }
"""


def button(act: str, name: str, label: str = "", kind: str = "", says: str = "") -> str:
    """A part that can be pressed: what it does, with which name, and what stands on it and what it is called."""
    looks = f' class="{kind}"' if kind else ""
    said = f' aria-label="{escape(says)}"' if says else ""
    part = f'data-act="{act}" data-name="{escape(name)}"'
    return f'<button type="button" {part}{looks}{said}>{escape(label or name)}</button>'


def note(text: str) -> str:
    """A small line below something."""
    return f"<small>{escape(text)}</small>" if text else ""
