"""TinyWorld's people who do things to each other, in either direction."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import roles

ROLES = Source(
    name="roles",
    aliases=("passives",),
    idea=roles.ROLES.idea,
    make=partial(open_preset, "roles"),
    tokens=300_000,
    rank=13,
)
