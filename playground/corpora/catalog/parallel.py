"""TinyWorld in two languages: each document is a sentence and its translation."""

from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate
from playground.corpora.tinyworld.presets import parallel
from playground.corpora.tinyworld.translate import Language, new_sentences_last, translate

SINGLE = 0.55
"""Tokens of the first language, each with its [SEP], for one token of the corpus."""


def make_parallel(seed: int, tokens: int, settings: Language | None = None) -> Corpus:
    """About so many tokens of sentences and translations."""
    single = generate("parallel", seed, round(tokens * SINGLE))
    return translate(new_sentences_last(single), settings)


PARALLEL = Source(
    name="parallel",
    aliases=("translations", "two languages"),
    idea=parallel.PARALLEL.idea,
    make=make_parallel,
    settings=Language(),
    tokens=300_000,
)
