"""TinyWorld's words that come again after an exact distance."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import gaps

GAPS = Source(
    name="gaps",
    aliases=("distances",),
    idea=gaps.GAPS.idea,
    make=partial(open_preset, "gaps"),
    tokens=300_000,
    rank=15,
)
