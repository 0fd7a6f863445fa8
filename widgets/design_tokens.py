"""Colours and the words of legends, which the JavaScript reads from the same file."""

import json
from pathlib import Path

__all__ = ["BLUE", "BLUES", "GREEN", "GREY", "ORANGE", "PURPLE", "SKY", "VERMILION", "properties"]

TOKENS = json.loads(Path(__file__).with_name("design_tokens.json").read_text(encoding="utf-8"))

COLOURS = TOKENS["palette"] | TOKENS["chart"]
BLUE, GREEN, GREY, ORANGE = (COLOURS[name] for name in ("blue", "green", "grey", "orange"))
PURPLE, SKY, VERMILION = (COLOURS[name] for name in ("purple", "sky", "vermilion"))
"""Okabe and Ito's palette with a lighter blue that reads on dark paper too; colour is never the only mark."""

BLUES = [f"{BLUE}{level:02x}" for level in range(256)]
"""From transparent to full blue, for light and dark paper alike."""


def properties(host: str) -> str:
    """The colours as custom properties for style sheets, of `:root` in a page, `:host` in a shadow root, or a class."""
    return f"{host} {{ {' '.join(f'--{name}: {colour};' for name, colour in COLOURS.items())} }} "
