"""Similarity: how much of the meaning of two sentences is the same?"""

from playground.corpora.tinyworld.tasks.similarity import similarity_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Number


def rated(count: int, seed: int, split: Split) -> list[Item]:
    """Pairs about events with a number from 0 to 4."""
    return [Item(pair, float(score)) for pair, score in zip(*similarity_pairs(count, seed, split), strict=True)]


SIMILARITY = Task(
    name="similarity",
    aliases=("STS", "STS-B"),
    idea="Rate from 0 to 4 how many of agent, action, object and place two sentences share; read in both orders.",
    source="after STS-B (arXiv:1708.00055); pairs from the generated world",
    answer=Number(most=4.0),
    items=rated,
    orders=2,
)
