"""A table as markup, of pages and still pictures."""

from collections.abc import Iterable
from html import escape


def wide_table(name: str, heads: Iterable[str], rows: Iterable[Iterable[str]], small: bool = False) -> str:
    """A table of cells that scrolls sideways, by pointer and by key, where it is wider than the page."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    looks = ' style="font-size:.88em"' if small else ""
    table = f"<table{looks}><tr>{head}</tr>{body}</table>"
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">{table}</div>'
