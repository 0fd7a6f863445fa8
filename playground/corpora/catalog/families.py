"""TinyWorld's sentences for word vectors and analogies."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import families

FAMILIES = Source(
    name="families",
    aliases=("vectors",),
    idea=families.FAMILIES.idea,
    make=partial(open_preset, "families"),
    tokens=200_000,
    rank=10,
)
