"""Many kinds of short documents, two fifths of them film reviews."""

from playground.corpora.tinyworld import everyday
from playground.corpora.tinyworld.preset import Preset

WORLD = Preset(
    name="world",
    aliases=("TinyWorld", "world-6"),
    idea="Six topics, film reviews, people and their lives, journeys, everyday talk, and words with two meanings.",
    rules=everyday.RULES,
    words=everyday.words,
)
