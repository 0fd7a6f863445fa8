"""Pairs of sentences: does the second follow from the first, contradict it, or is neither the case?"""

from random import Random

from playground.corpora.tinyworld.lexicon import ASPECTS_PLURAL, BAD, GOOD
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different

INFERENCES = ("contradiction", "neutral", "entailment")

Pair = tuple[list[str], list[str]]


def inference_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs of a premise and a hypothesis, and which of `INFERENCES` holds, a third of each.

    The hypothesis is drawn before the answer and the premise is made to fit, so neither of them alone says anything
    (arXiv:1803.02324 shows that in natural data it does).
    """
    random = dice(seed, "inference", split)
    labels = balanced(count, len(INFERENCES), random)
    classes = [
        different(labels.count(label), split, lambda k=label: _pair(k, random), lambda pair: [*pair[0], *pair[1]], 3)
        for label in range(len(INFERENCES))
    ]
    return [classes[label].pop() for label in labels], labels


def _pair(label: int, random: Random) -> Pair:
    """First "the songs were (not) great .", then a premise that says so, denies it, or speaks of something else."""
    aspect, other = random.sample(ASPECTS_PLURAL.split(), 2)
    feelings = [GOOD.split(), BAD.split()]
    random.shuffle(feelings)
    one, two = map(random.choice, feelings)
    denied = random.random() < 0.5
    hypothesis = ["the", aspect, "were", *(["not"] if denied else []), one, "."]
    said = denied == (label == 0) if label != 1 else random.random() < 0.5
    yes, no = (one, two) if said else (two, one)
    return ["the", other if label == 1 else aspect, "were", yes, ",", "not", no, "."], hypothesis
