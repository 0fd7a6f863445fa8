"""TinyWorld's facts, each told exactly so many times, some never."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import facts

FACTS = Source(
    name="facts",
    aliases=("knowledge",),
    idea=facts.FACTS.idea,
    make=partial(open_preset, "facts"),
    tokens=100_000,
    rank=7,
)
