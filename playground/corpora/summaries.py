"""TinyWorld's stories with one sentence that matters most and a summary."""

from functools import partial

from playground.corpora.source import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import summaries

SUMMARIES = Source(
    name="summaries",
    aliases=("tl;dr",),
    idea=summaries.SUMMARIES.idea,
    make=partial(open_preset, "summaries"),
    tokens=300_000,
    rank=4,
)
