"""Subjects and verbs of TinyWorld far from each other."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import agreement

AGREEMENT = Source(
    name="agreement",
    aliases=("attractors",),
    idea=agreement.AGREEMENT.idea,
    make=partial(open_preset, "agreement"),
    tokens=300_000,
    rank=8,
)
