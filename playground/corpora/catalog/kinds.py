"""TinyWorld's things, their kinds and their looks."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import kinds

KINDS = Source(
    name="kinds",
    aliases=("taxonomy",),
    idea=kinds.KINDS.idea,
    make=partial(open_preset, "kinds"),
    tokens=300_000,
    rank=14,
)
