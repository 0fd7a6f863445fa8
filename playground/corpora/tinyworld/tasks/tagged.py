"""Single sentences with what the grammar knows of every word."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.tasks.draw import Split, dice, different, write
from playground.corpora.tinyworld.tasks.stories import STOP
from playground.corpora.tinyworld.world import grammar

UNTOLD = tuple((fact.subject, fact.object) for fact in FACTS if not fact.mentions)
"""Who or what, and what is true of it, for the facts that are held out."""


@dataclass(frozen=True)
class Tagged:
    """A sentence, and for each word its part of speech, what it names (or nothing) and whether a name begins there."""

    words: list[str]
    pos: list[str]
    entities: list[str]
    begins: list[bool]


def tagged_sentences(rules: Sequence[str], count: int, seed: int, split: Split = "train") -> list[Tagged]:
    """Different sentences from documents of the corpus `world`, written by these rules; none tells a held-out fact."""
    random = dice(seed, f"tagged {rules}", split)
    return different(count, split, lambda: _drawn(random.choice(rules), random), lambda one: one.words)


def tells_held_out(words: Sequence[str]) -> bool:
    """Whether both sides of a held-out fact stand in a sentence."""
    there = set(words)
    return any(subject in there and fact in there for subject, fact in UNTOLD)


def _drawn(rule: str, random: Random) -> Tagged:
    while True:
        one = random.choice(_sentences(rule, random))
        if not tells_held_out(one.words):
            return one


def _sentences(rule: str, random: Random) -> list[Tagged]:
    """A document cut behind every full stop."""
    forms, numbers = grammar("world").forms, write("world", rule, random)
    words, seen = spell(forms, numbers), [form for form in map(forms.__getitem__, numbers) if form.pos]
    ends = [k + 1 for k, word in enumerate(words) if word == STOP]
    cuts = [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]
    return [
        Tagged(words[cut], [f.pos for f in seen[cut]], [f.entity for f in seen[cut]], [f.begins for f in seen[cut]])
        for cut in cuts
    ]
