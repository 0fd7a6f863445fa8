"""TinyWorld's film reviews alone: about a hundred words, so that feelings are learnt within seconds."""

from functools import partial

from playground.corpora.source import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import reviews

REVIEWS = Source(
    name="reviews",
    aliases=("film reviews",),
    idea=reviews.REVIEWS.idea,
    make=partial(open_preset, "reviews"),
    rank=1,
)
