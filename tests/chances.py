"""What follows from the chances of all texts of a grammar, where they can be written out: the oracle of sums."""

from collections import defaultdict
from math import log


def entropy(chances):
    """The entropy of a whole text, in nats."""
    return -sum(chance * log(chance) for chance in chances.values())


def next_word(chances, words):
    """The chance of every word after these, "" for the end of the text; empty where no text begins so."""
    start, position = tuple(words), len(words)
    return _normalised(((*t, "")[position], chance) for t, chance in chances.items() if t[:position] == start)


def word_at(chances, words, *positions):
    """The chance of every word at the first position, given all words but those at `positions`."""
    known = [(k, word) for k, word in enumerate(words) if k not in positions]
    texts = [text for text in chances if len(text) == len(words) and all(text[k] == word for k, word in known)]
    return _normalised((text[positions[0]], chances[text]) for text in texts)


def _normalised(weights):
    sums = defaultdict(float)
    for word, weight in weights:
        sums[word] += weight
    return {word: weight / sum(sums.values()) for word, weight in sums.items()}
