"""TinyWorld's stories alone, for learning what follows what."""

from functools import partial

from playground.corpora.source import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import stories

STORIES = Source(
    name="stories",
    aliases=("pairs",),
    idea=stories.STORIES.idea,
    make=partial(open_preset, "stories"),
    tokens=300_000,
    rank=3,
)
