"""TinyWorld's stories with one sentence that matters most and a summary."""

from functools import partial

from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate, open_preset
from playground.corpora.tinyworld.preset import Turned
from playground.corpora.tinyworld.presets import summaries
from playground.errors import Refusal


def make_summaries(seed: int, tokens: int, *, share: float = 0.9) -> Corpus:
    """Stories of which a share has its summary at the end, after "in short :"."""
    if not 0 <= share <= 1:
        raise Refusal(f"share is {share}; it is a share of the stories and lies between 0 and 1.")
    return generate("summaries", seed, tokens, Turned(shares={"Digest": share / 9, "Story": 1 - share}))


SUMMARIES = Source(
    name="summaries",
    aliases=("tl;dr",),
    idea=summaries.SUMMARIES.idea,
    make=partial(open_preset, "summaries"),
    tokens=300_000,
    rank=4,
)
