"""TinyWorld: corpora from a grammar of our own, so that the true labels of every token are known."""

from playground.corpora.tinyworld.generate import generate

__all__ = ["generate"]
