"""Pairs of sentences: does the second follow from the first, contradict it, or neither?"""

from random import Random

from playground.corpora.tinyworld.lexicon import ASPECTS_PLURAL, BAD, GOOD
from playground.corpora.tinyworld.tasks.draw import Pair, Split, different_by_class, pair_words

INFERENCES = ("contradiction", "neutral", "entailment")


def inference_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs of a premise and a hypothesis, and which of `INFERENCES` holds, a third of each.

    The hypothesis is drawn before the label and the premise is made to fit, so neither sentence alone predicts the
    label (in natural data it does, arXiv:1803.02324).
    """
    return different_by_class("inference", count, seed, split, len(INFERENCES), _pair, pair_words)


def _pair(label: int, random: Random) -> Pair:
    """First "the songs were (not) great .", then a premise that states it, denies it, or is about another aspect."""
    aspect, other = random.sample(ASPECTS_PLURAL.split(), 2)
    feelings = [GOOD.split(), BAD.split()]
    random.shuffle(feelings)
    one, two = map(random.choice, feelings)
    denied = random.random() < 0.5
    hypothesis = ["the", aspect, "were", *(["not"] if denied else []), one, "."]
    agrees = denied == (label == 0) if label != 1 else random.random() < 0.5
    yes, no = (one, two) if agrees else (two, one)
    return ["the", other if label == 1 else aspect, "were", yes, ",", "not", no, "."], hypothesis
