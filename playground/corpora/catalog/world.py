"""TinyWorld: many kinds of short documents, two fifths of them film reviews."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import world

WORLD = Source(
    name="world",
    aliases=("TinyWorld", "world-6"),
    idea=world.WORLD.idea,
    make=partial(open_preset, "world"),
)
