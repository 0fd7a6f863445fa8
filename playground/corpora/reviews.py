"""TinyWorld's film reviews alone: about a hundred words, so that feelings are learnt within seconds."""

from functools import partial

from playground.corpora.source import Source
from playground.corpora.tinyworld.generate import open_preset

REVIEWS = Source(
    name="reviews",
    aliases=("film reviews",),
    idea="Short film reviews; each is good or bad, and nearly all of its sentences agree.",
    make=partial(open_preset, "reviews"),
    rank=1,
)
