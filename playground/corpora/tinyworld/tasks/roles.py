"""Pairs of sentences, one active and one passive: do they mean the same, or are the roles reversed?"""

from random import Random

from playground.corpora.tinyworld.inflection import participle, past
from playground.corpora.tinyworld.lexicon import DEALINGS, TOPICS
from playground.corpora.tinyworld.tasks.draw import Pair, Split, different_by_class, pair_words


def role_pairs(count: int, seed: int, split: Split = "train") -> tuple[list[Pair], list[int]]:
    """Different pairs "the chef thanked the guest . – the guest was thanked by the chef ." and whether both agree.

    In half of the pairs the roles are reversed (0); the words are the same in both cases, only their order differs.
    """
    return different_by_class("roles", count, seed, split, 2, _pair, pair_words)


def _pair(label: int, random: Random) -> Pair:
    one, other = random.sample(random.choice(TOPICS).people.split(), 2)
    verb = random.choice(DEALINGS.split())
    agent, patient = (one, other) if label else (other, one)
    active = ["the", one, past(verb), "the", other, "."]
    passive = ["the", patient, "was", participle(verb), "by", "the", agent, "."]
    return (active, passive) if random.random() < 0.5 else (passive, active)
