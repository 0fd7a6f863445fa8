"""Pairs of sentences about events: how much of the meaning is the same, and is all of it?"""

from random import Random

from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.lexicon import TOPICS, Topic
from playground.corpora.tinyworld.tasks.draw import Pair, Split, different_by_class, pair_words

Event = tuple[str, str, str, str]


def similarity_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs in different word orders, and how many of agent, verb, patient and place are the same."""
    return different_by_class("similarity", count, seed, split, 5, _pair, pair_words)


def paraphrase_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs in different word orders, and whether they mean the same (1) or differ in one thing (0)."""
    return different_by_class("paraphrase", count, seed, split, 2, lambda k, random: _pair(3 + k, random), pair_words)


def _pair(score: int, random: Random) -> Pair:
    """Two events of one topic that agree in exactly so many things, one with the place at the end, one at the start."""
    topic = random.choice(TOPICS)
    one = _event(topic, random)
    kept = random.sample(range(4), score)
    other: list[str] = []
    for slot, word in enumerate(one):
        fresh = word
        while slot not in kept and fresh == word:
            fresh = _event(topic, random)[slot]
        other.append(fresh)
    agent, verb, patient, place = one
    last = ["the", agent, verb, "the", patient, "near", "the", place, "."]
    agent, verb, patient, place = other
    first = ["near", "the", place, "the", agent, verb, "the", patient, "."]
    return (last, first) if random.random() < 0.5 else (first, last)


def _event(topic: Topic, random: Random) -> Event:
    """Agent, verb, patient and place."""
    verbs, things = random.choice(list(topic.phases.items()))
    slots = (topic.people, verbs, things, topic.places)
    agent, verb, patient, place = (random.choice(words.split()) for words in slots)
    return agent, past(verb), patient, place
