"""Word in context: does a word mean the same in two sentences?"""

from random import Random

from playground.corpora.tinyworld.tasks.draw import balanced, task_random
from playground.corpora.tinyworld.tasks.senses import Sensed, sense_sentences
from playground.errors import UserError
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Marked

KINDS = ("left near", "left far")
"""What gives the meaning away stands left of the word, so that readers of both kinds can know it."""

EACH = {"train": 200, "test": 100}
"""Sentences of each kind; pairs are made within a split, so no sentence is in both."""

MOST = 5000


def pairs(count: int, seed: int, split: Split) -> list[Item]:
    """Different pairs of sentences around one word, which means the same in half of them."""
    if count > MOST:
        raise UserError(f"There are only {MOST} such pairs, not {count}; ask for fewer.")
    random = task_random(seed, "word in context", split)
    sentences = [one for kind in KINDS for one in sense_sentences(kind, EACH[split], 0, split)]
    found: dict[tuple[str, ...], Item] = {}
    labels = balanced(count, 2, random)
    while len(found) < count:
        item = _pair(sentences, labels[len(found)], random)
        found.setdefault(item.words, item)
    return list(found.values())


def _pair(sentences: list[Sensed], same: int, random: Random) -> Item:
    others: list[Sensed] = []
    while not others:  # a sense may have a single sentence
        one = random.choice(sentences)
        word = one.words[one.position]
        others = [
            o for o in sentences if o.words[o.position] == word and (o.sense == one.sense) == bool(same) and o != one
        ]
    other = random.choice(others)
    return Item((one.words, other.words), same, marked=(one.position, other.position))


WORD_IN_CONTEXT = Task(
    name="word in context",
    aliases=("WiC", "senses"),
    idea="Say whether a word with two meanings means the same in both sentences; the head reads its position.",
    source="WiC (arXiv:1808.09121); sentences from the corpus 'senses'",
    answer=Marked(("different", "same")),
    items=pairs,
    corpora=("senses",),
)
