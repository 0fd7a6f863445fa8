"""Sentences of reviews with a spurious cue that is right in training and uninformative or wrong in the test."""

from dataclasses import dataclass
from functools import partial
from random import Random

from playground.corpora.tinyworld.presets.shortcuts import CUES
from playground.corpora.tinyworld.tasks.draw import Split, different_by_class, write_words


@dataclass(frozen=True)
class Cued:
    """A text that begins with a day, and whether the day agrees with its polarity."""

    words: list[str]
    agrees: bool


def shortcut_sentences(
    count: int, seed: int, split: Split = "train", share: float = 0.95
) -> tuple[list[Cued], list[int]]:
    """Different texts such as "it was monday . the plot was great .", and whether each is good (1) or bad (0).

    The day agrees with the polarity in the given fraction of the texts: train with 0.95 and test with 0 (as
    arXiv:1902.01007 does).
    """
    return different_by_class("shortcuts", count, seed, split, 2, partial(_cued, share), lambda one: one.words)


def _cued(share: float, label: int, random: Random) -> Cued:
    agrees = random.random() < share
    day = CUES["good" if bool(label) == agrees else "bad"]
    line = write_words("shortcuts", f"Praise-{'good' if label else 'bad'}", random)
    return Cued(["it", "was", day, ".", *line], agrees)
