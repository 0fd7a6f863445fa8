"""Entities: which words name somebody or something, and what kind of thing?"""

from playground.corpora.tinyworld.lexicon import ENTITIES as KINDS
from playground.corpora.tinyworld.lexicon import ENTITY_TYPES
from playground.corpora.tinyworld.tasks.tagged import Tagged, tagged_sentences
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Mentions

NAMES = ("O", *(f"{sign}-{kind}" for kind in ENTITY_TYPES for sign in "BI"))


def named(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences about people and journeys, and some of any kind."""
    drawn = tagged_sentences(("Life", "Journey", "Document"), count, seed, split)
    return [Item((one.words,), [NAMES.index(tag) for tag in _tags(one)]) for one in drawn]


def _tags(one: Tagged) -> list[str]:
    return [
        f"{'B' if begins else 'I'}-{KINDS[name]}" if name else "O"
        for name, begins in zip(one.entities, one.begins, strict=True)
    ]


ENTITIES = Task(
    name="entities",
    aliases=("NER", "named entities"),
    idea="Find the names, some of two words, and say what each names: a person, city, town, country or language.",
    source="after CoNLL-2003 (cs/0306050); sentences from the generated world",
    answer=Mentions(NAMES),
    items=named,
)
