"""TinyWorld's words with two meanings, by where their cue stands."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import senses

SENSES = Source(
    name="senses",
    aliases=("homonyms",),
    idea=senses.SENSES.idea,
    make=partial(open_preset, "senses"),
    tokens=300_000,
    rank=9,
)
