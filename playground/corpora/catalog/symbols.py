"""A new code in every document, to be learnt from the document alone."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import symbols

SYMBOLS = Source(
    name="symbols",
    aliases=("in-context learning",),
    idea=symbols.SYMBOLS.idea,
    make=partial(open_preset, "symbols"),
    tokens=300_000,
    rank=11,
)
