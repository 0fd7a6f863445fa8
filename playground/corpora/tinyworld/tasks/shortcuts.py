"""Sentences of reviews with a cue that is right in training and says nothing, or lies, in the test."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.presets.shortcuts import CUES
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different, write_words


@dataclass(frozen=True)
class Cued:
    """A text that begins with a day, and whether the day agrees with its feeling."""

    words: list[str]
    agrees: bool


def shortcut_sentences(
    count: int, seed: int, split: Split = "train", share: float = 0.95
) -> tuple[list[Cued], list[int]]:
    """Different texts such as "it was monday . the plot was great .", and whether each is good (1) or bad (0).

    The day agrees in the given share of the texts: train with 0.95 and test with 0 (arXiv:1902.01007 tests so).
    """
    random = dice(seed, "shortcuts", split)
    labels = balanced(count, 2, random)
    bad, good = (
        different(labels.count(k), split, lambda k=k: _cued(k, share, random), lambda one: one.words, 2) for k in (0, 1)
    )
    return [(good if label else bad).pop() for label in labels], labels


def _cued(label: int, share: float, random: Random) -> Cued:
    agrees = random.random() < share
    day = CUES["good" if bool(label) == agrees else "bad"]
    line = write_words("shortcuts", f"Praise-{'good' if label else 'bad'}", random)
    return Cued(["it", "was", day, ".", *line], agrees)
