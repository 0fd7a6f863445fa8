"""TinyWorld's stories alone, for learning what follows what."""

from functools import partial

from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate, open_preset
from playground.corpora.tinyworld.preset import Turned
from playground.corpora.tinyworld.presets import stories


def make_stories(seed: int, tokens: int, *, topics: int = 6) -> Corpus:
    """Stories of the first few topics only: the fewer, the less the topic alone says which texts belong together."""
    return generate("stories", seed, tokens, Turned(topics=topics))


STORIES = Source(
    name="stories",
    aliases=("pairs",),
    idea=stories.STORIES.idea,
    make=partial(open_preset, "stories"),
    tokens=300_000,
    rank=3,
)
