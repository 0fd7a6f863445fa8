"""TinyWorld: many kinds of short documents, two fifths of them film reviews."""

from functools import partial

from playground.corpora.source import Source
from playground.corpora.tinyworld.generate import open_preset

WORLD = Source(
    name="world",
    aliases=("TinyWorld", "world-6"),
    idea="Six topics, film reviews, people and their lives, journeys, and words with two meanings.",
    make=partial(open_preset, "world"),
)
