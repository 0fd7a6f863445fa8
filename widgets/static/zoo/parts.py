"""What the tables and cards of the zoo are made of."""

from html import escape

from widgets.bundle import sheet

STYLE = sheet(__file__)


def button(act: str, name: str, label: str = "", kind: str = "", says: str = "") -> str:
    """A part that can be pressed: what it does, with which name, and what stands on it and what it is called."""
    looks = f' class="{kind}"' if kind else ""
    said = f' aria-label="{escape(says)}"' if says else ""
    part = f'data-act="{act}" data-name="{escape(name)}"'
    return f'<button type="button" {part}{looks}{said}>{escape(label or name)}</button>'


def note(text: str) -> str:
    """A small line below something."""
    return f"<small>{escape(text)}</small>" if text else ""
