"""TinyWorld's reviews with a cue that misleads."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import shortcuts

SHORTCUTS = Source(
    name="shortcuts",
    aliases=("spurious cues",),
    idea=shortcuts.SHORTCUTS.idea,
    make=partial(open_preset, "shortcuts"),
    tokens=300_000,
    rank=17,
)
