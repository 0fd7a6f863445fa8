"""TinyWorld in two languages: each document is a sentence and its translation."""

from functools import partial

from playground.corpora.cache import remembered
from playground.corpora.corpus import Corpus
from playground.corpora.source import Source
from playground.corpora.tinyworld.apart import new_sentences_last
from playground.corpora.tinyworld.generate import generate, version
from playground.corpora.tinyworld.presets import parallel
from playground.corpora.tinyworld.translate import translate

SINGLE = 0.55
"""Tokens of the first language, each with its [SEP], for one token of the corpus."""


def make_parallel(
    seed: int,
    tokens: int,
    *,
    shared: float = 0.1,
    verb_last: bool = True,
    adjective_after: bool = False,
    language: str = "second",
) -> Corpus:
    """About so many tokens of sentences and translations; the knobs are those of `translate`."""
    single = generate("parallel", seed, round(tokens * SINGLE))
    return translate(
        new_sentences_last(single),
        shared=shared,
        verb_last=verb_last,
        adjective_after=adjective_after,
        language=language,
    )


def open_parallel(seed: int, tokens: int) -> Corpus:
    """The same with the knobs as they come, read from the disk where it was made before."""
    return remembered(f"parallel-{seed}-{tokens}-{version()}", partial(make_parallel, seed, tokens))


PARALLEL = Source(
    name="parallel",
    aliases=("translations", "two languages"),
    idea=parallel.PARALLEL.idea,
    make=open_parallel,
    tokens=300_000,
    rank=2,
)
