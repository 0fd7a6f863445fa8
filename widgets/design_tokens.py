"""Colours and the words of legends, which the JavaScript reads from the same file."""

import json
from pathlib import Path

__all__ = ["BLUE", "BLUES", "GREEN", "GREY", "ORANGE", "PURPLE", "SKY", "VERMILION"]

TOKENS = json.loads(Path(__file__).with_name("design_tokens.json").read_text(encoding="utf-8"))

ORANGE, GREEN, VERMILION, PURPLE, SKY = (
    TOKENS["palette"][name] for name in ("orange", "green", "vermilion", "purple", "sky")
)
BLUE, GREY = TOKENS["chart"]["blue"], TOKENS["chart"]["grey"]
"""Okabe and Ito's palette with a lighter blue that reads on dark paper too; colour is never the only mark."""

BLUES = [f"{BLUE}{level:02x}" for level in range(256)]
"""From transparent to full blue, for light and dark paper alike."""
