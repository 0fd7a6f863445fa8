"""The presets of TinyWorld as corpora."""

from functools import partial

from playground.catalog import find
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate
from playground.corpora.tinyworld.preset import Preset

PRESETS = tuple(
    Source(p.name, p.idea, partial(generate, p.name), aliases=p.aliases, tokens=p.tokens)
    for p in find("playground.corpora.tinyworld.presets", Preset).values()
    if p.name != "parallel"  # has knobs, in a file of its own
)
