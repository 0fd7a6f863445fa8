"""Connectives: which word joins two clauses?"""

from playground.corpora.tinyworld.presets.arguments import JOINED
from playground.corpora.tinyworld.tasks.connectives import connective_sentences
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def clauses(count: int, seed: int, split: Split) -> list[Item]:
    """Pairs of clauses whose connective was taken out."""
    drawn = zip(*connective_sentences(count, seed, split), strict=True)
    return [Item((joined.first, joined.second), label) for joined, label in drawn]


CONNECTIVES = Task(
    name="connectives",
    aliases=("discourse", "DisSent"),
    idea="Say which word joined two clauses: and, but, because or so.",
    source="arXiv:1710.04334, sec. 3; clauses from the corpus 'arguments'",
    answer=Classes(JOINED),
    items=clauses,
    corpora=("arguments",),
)
