"""Stories sentence by sentence."""

from random import Random

from playground.corpora.tinyworld.tasks.draw import write_words

STOP = "."


def story(topic: str, random: Random) -> list[list[str]]:
    """The sentences of a story: its title, who came, then what happened in order."""
    return sentences(write_words("world", f"Story-{topic}", random))


def sentences(words: list[str]) -> list[list[str]]:
    """Words cut behind every full stop."""
    ends = [k + 1 for k, word in enumerate(words) if word == STOP]
    return [words[first:last] for first, last in zip([0, *ends], ends, strict=False)]
