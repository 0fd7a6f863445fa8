"""Single sentences with labels of every word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write
from playground.corpora.tinyworld.tasks.stories import sentences

UNTOLD = tuple((fact.subject, fact.object) for fact in FACTS if not fact.mentions)
"""Subject and object of the facts that are held out."""


@dataclass(frozen=True)
class Tagged:
    """A sentence, and for each word its part of speech, its entity (or ""), and whether a name begins there."""

    words: list[str]
    pos: list[str]
    entities: list[str]
    begins: list[bool]


def tagged_sentences(rules: Sequence[str], count: int, seed: int, split: Split = "train") -> list[Tagged]:
    """Different sentences from documents of the corpus `world`, written by these rules; none states a held-out fact."""
    random = task_random(seed, f"tagged {rules}", split)
    return different(count, split, lambda: _draw(random.choice(rules), random), lambda one: one.words)


def tells_held_out(words: Sequence[str]) -> bool:
    """Whether both sides of a held-out fact stand in a sentence."""
    unique = set(words)
    return any(subject in unique and fact in unique for subject, fact in UNTOLD)


def _draw(rule: str, random: Random) -> Tagged:
    while True:
        one = random.choice(list(_sentences(rule, random)))
        if not tells_held_out(one.words):
            return one


def _sentences(rule: str, random: Random) -> Iterator[Tagged]:
    forms = [form for form in write("world", rule, random) if form.pos]
    rest = iter(forms)
    for words in sentences(spell(forms)):
        part = list(islice(rest, len(words)))
        yield Tagged(words, [f.pos for f in part], [f.entity for f in part], [f.begins for f in part])
