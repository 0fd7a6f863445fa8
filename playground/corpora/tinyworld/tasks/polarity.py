"""Labelled sentences from film reviews."""

from random import Random

from playground.corpora.tinyworld.tasks.draw import Split, different_by_class, write_words


def polarity_sentences(count: int, seed: int, split: Split = "train") -> tuple[list[list[str]], list[int]]:
    """Different single sentences of reviews and whether each is good (1) or bad (0), half of each.

    The adjectives carry the polarity, in a minority with "not". No sentence of one split is in the other.
    """
    return different_by_class("polarity", count, seed, split, 2, _sentence, list)


def _sentence(label: int, random: Random) -> list[str]:
    return write_words("reviews", "Praise-good" if label else "Praise-bad", random)
