"""Colours and the words of legends, which the JavaScript reads from the same file."""

import json
from pathlib import Path

TOKENS = json.loads(Path(__file__).with_name("tokens.json").read_text(encoding="utf-8"))
