"""Pairs of sentences about events: how much of the meaning is the same, and is all of it?"""

from random import Random

from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.lexicon import TOPICS, Topic
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different

Pair = tuple[list[str], list[str]]
Event = tuple[str, str, str, str]


def similarity_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs in different word orders, and how many of who, what was done, to what and where are the same."""
    random = dice(seed, "similarity", split)
    scores = balanced(count, 5, random)
    kinds = [
        different(scores.count(score), split, lambda k=score: _pair(k, random), lambda pair: [*pair[0], *pair[1]], 5)
        for score in range(5)
    ]
    return [kinds[score].pop() for score in scores], scores


def paraphrase_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs in different word orders, and whether they mean the same (1) or differ in one thing (0)."""
    random = dice(seed, "paraphrase", split)
    labels = balanced(count, 2, random)
    differing, same = (
        different(labels.count(k), split, lambda k=k: _pair(3 + k, random), lambda pair: [*pair[0], *pair[1]], 2)
        for k in (0, 1)
    )
    return [(same if label else differing).pop() for label in labels], labels


def _pair(score: int, random: Random) -> Pair:
    """Two events of one topic that agree in exactly so many things, one told with the place last, one with it first."""
    topic = random.choice(TOPICS)
    one = _event(topic, random)
    kept = random.sample(range(4), score)
    other: list[str] = []
    for slot, word in enumerate(one):
        fresh = word
        while slot not in kept and fresh == word:
            fresh = _event(topic, random)[slot]
        other.append(fresh)
    pair = (_tell(one), _front((other[0], other[1], other[2], other[3])))
    return pair if random.random() < 0.5 else (pair[1], pair[0])


def _event(topic: Topic, random: Random) -> Event:
    """Who did what to what and where."""
    phase = random.choice(topic.phases)
    slots = (topic.people, phase.verbs, phase.things, topic.places)
    who, verb, what, where = (random.choice(words.split()) for words in slots)
    return who, past(verb), what, where


def _tell(event: Event) -> list[str]:
    who, did, what, where = event
    return ["the", who, did, "the", what, "near", "the", where, "."]


def _front(event: Event) -> list[str]:
    who, did, what, where = event
    return ["near", "the", where, "the", who, did, "the", what, "."]
