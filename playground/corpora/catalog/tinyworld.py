"""The presets of TinyWorld as corpora; those that make a corpus in a way of their own have a file beside this one."""

from functools import partial

from playground.catalog import find
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.preset import Preset

ELSEWHERE = ("parallel", "reviews", "stories", "summaries")

PRESETS = tuple(
    Source(p.name, p.idea, partial(open_preset, p.name), aliases=p.aliases, tokens=p.tokens, rank=p.rank)
    for p in find("playground.corpora.tinyworld.presets", Preset).values()
    if p.name not in ELSEWHERE
)
