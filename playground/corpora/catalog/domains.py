"""TinyWorld in two domains: reviews of films and of restaurants, each document with a word that says which."""

from dataclasses import replace

from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.domains import split_domains
from playground.corpora.tinyworld.generate import generate


def make_domains(seed: int, tokens: int) -> Corpus:
    """About so many tokens of both domains."""
    split = split_domains(generate("reviews", seed, tokens), seed)
    return replace(split, name="domains", description=DOMAINS.idea)


DOMAINS = Source(
    name="domains",
    aliases=("control codes",),
    idea="Reviews of films and of restaurants; half of the words differ, and the first word of each says which it is.",
    make=make_domains,
    tokens=300_000,
)
