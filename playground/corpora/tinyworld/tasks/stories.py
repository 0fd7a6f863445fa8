"""Stories sentence by sentence."""

from itertools import pairwise
from random import Random

from playground.corpora.tinyworld.tasks.draw import write_words


def story(topic: str, random: Random) -> list[list[str]]:
    """The sentences of a story: title, first mention of the hero, then the events in order."""
    return sentences(write_words("world", f"Story-{topic}", random))


def sentences(words: list[str]) -> list[list[str]]:
    """The words cut after every full stop."""
    ends = [k + 1 for k, word in enumerate(words) if word == "."]
    return [words[first:last] for first, last in pairwise([0, *ends])]
