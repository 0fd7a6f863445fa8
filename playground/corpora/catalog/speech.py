"""TinyWorld as people speak it, with slips."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import speech

SPEECH = Source(
    name="speech",
    aliases=("disfluencies",),
    idea=speech.SPEECH.idea,
    make=partial(open_preset, "speech"),
    tokens=300_000,
    rank=18,
)
