"""Paraphrase: do two sentences mean the same?"""

from playground.corpora.tinyworld.tasks.similarity import paraphrase_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def retold(count: int, seed: int, split: Split) -> list[Item]:
    """Pairs about events in two orders of words, half of which differ in one thing."""
    return [Item(pair, label) for pair, label in zip(*paraphrase_pairs(count, seed, split), strict=True)]


PARAPHRASE = Task(
    name="paraphrase",
    aliases=("MRPC", "QQP"),
    idea="Say whether two sentences in different orders of words mean the same; the pair is read in both orders.",
    source="after MRPC (Dolan and Brockett 2005); pairs from the generated world",
    answer=Classes(("different", "same")),
    items=retold,
    orders=2,
)
