"""TinyWorld's symbols for pictures, events and sounds, with text."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import scenes

SCENES = Source(
    name="scenes",
    aliases=("pictures",),
    idea=scenes.SCENES.idea,
    make=partial(open_preset, "scenes"),
    tokens=300_000,
    rank=19,
)
