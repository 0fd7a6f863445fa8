"""Film reviews in sentences of two clauses, joined by the word that fits."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import arguments

ARGUMENTS = Source(
    name="arguments",
    aliases=("connectives",),
    idea=arguments.ARGUMENTS.idea,
    make=partial(open_preset, "arguments"),
    tokens=300_000,
    rank=5,
)
