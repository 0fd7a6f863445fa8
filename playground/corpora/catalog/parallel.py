"""TinyWorld in two languages: each document is a sentence and its translation."""

from functools import partial

from playground.corpora.cache import remembered
from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate, version
from playground.corpora.tinyworld.presets import parallel
from playground.corpora.tinyworld.translate import Language, new_sentences_last, translate
from playground.knob import written

SINGLE = 0.55
"""Tokens of the first language, each with its [SEP], for one token of the corpus."""


def make_parallel(seed: int, tokens: int, settings: Language | None = None) -> Corpus:
    """About so many tokens of sentences and translations."""
    single = generate("parallel", seed, round(tokens * SINGLE))
    return translate(new_sentences_last(single), settings)


def open_parallel(seed: int, tokens: int, settings: Language | None = None) -> Corpus:
    """The same, read from the disk where it was made before."""
    settings = settings or Language()
    key = f"parallel-{written(settings, ' ')}-{seed}-{tokens}-{version()}"
    return remembered(key, partial(make_parallel, seed, tokens, settings))


PARALLEL = Source(
    name="parallel",
    aliases=("translations", "two languages"),
    idea=parallel.PARALLEL.idea,
    make=open_parallel,
    settings=Language(),
    tokens=300_000,
)
