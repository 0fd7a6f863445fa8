"""TinyWorld's invented stems with endings and beginnings."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import affixes

AFFIXES = Source(
    name="affixes",
    aliases=("stems",),
    idea=affixes.AFFIXES.idea,
    make=partial(open_preset, "affixes"),
    tokens=300_000,
    rank=16,
)
