"""TinyWorld: corpora from a grammar of our own, so that the true labels of every token are known."""

from playground.corpora.tinyworld.generate import generate
from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.corpora.tinyworld.tasks.senses import sense_sentences

__all__ = ["generate", "minimal_pairs", "sense_sentences"]
