"""A small world with a grammar of our own, so that for every token the truth is known."""

from playground.corpora.tinyworld.generate import generate
from playground.corpora.tinyworld.tasks import polarity_sentences

__all__ = ["generate", "polarity_sentences"]
