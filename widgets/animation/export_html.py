"""Drawings as pages and as parts of pages that need neither kernel nor network."""

import base64
import json
import zlib
from html import escape
from typing import Any
from uuid import uuid4

from widgets.animation.record import Record, typeset
from widgets.animation.static_svg import still
from widgets.animation.widget import ESM
from widgets.bundle import sheet


def js(value: Any) -> str:
    """JSON that is safe inside a script: no tag can close it and no line separator can break it."""
    text = json.dumps(value)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def packed(value: Any) -> str:
    """Bytes, or any other value as JSON, compressed by zlib, in base64."""
    data = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def fragment(kind: str, instead: str, data: Any, module: bool = True, reserve: str = "") -> str:
    """A part of a page: a "stage", "table" or "replay" where scripts run, elsewhere the markup `instead`.

    The data is what `packed` returns or JSON. Without the `module` another part of the same page must have it. With
    `reserve` it is hidden while the live widget of that name is on the page.
    """
    name = f"{kind}-{uuid4().hex[:12]}"
    cell = f"(globalThis.__playground ??= []).push({js([kind, name, data, *filter(None, [reserve])])});"
    script = f'<script type="module">\n{ESM}\ndrawCells();\n{cell}\n</script>' if module else f"<script>{cell}</script>"
    return f'<div id="{name}">{instead}</div>\n{script}'


def standalone(record: Record, module: bool = True, reserve: str = "") -> str:
    """The stage as a part of a page; without scripts its last frame as picture and table."""
    record = typeset(record)
    return fragment("stage", still(record), packed(record), module, reserve)


PAGE_STYLE = sheet(__file__)


def page(record: Record, title: str = "") -> str:
    """A whole HTML document that needs neither kernel nor network."""
    return document(standalone(record), title or str(record.get("title", "Stage")))


def document(inside: str, title: str) -> str:
    """Markup of ours as a whole document in light and dark."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n"
        f'<body>\n<main>\n<h1 class="unseen">{escape(title)}</h1>\n{inside}\n</main>\n</body>\n</html>\n'
    )
