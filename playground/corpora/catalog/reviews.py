"""TinyWorld's film reviews alone: about a hundred words, so that feelings are learnt within seconds."""

from functools import partial

from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate, open_preset
from playground.corpora.tinyworld.preset import Turned
from playground.corpora.tinyworld.presets import reviews


def make_reviews(seed: int, tokens: int, *, steepness: float = 0.8) -> Corpus:
    """Reviews in which what is spoken of gets rarer faster or slower; 0 makes all equally frequent, 1 is Zipf's law."""
    return generate("reviews", seed, tokens, Turned(steepness=steepness))


REVIEWS = Source(
    name="reviews",
    aliases=("film reviews",),
    idea=reviews.REVIEWS.idea,
    make=partial(open_preset, "reviews"),
    rank=1,
)
