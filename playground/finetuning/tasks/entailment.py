"""Entailment: does the second sentence follow from the first?"""

from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def inferences(count: int, seed: int, split: Split) -> list[Item]:
    """Pairs of a premise and a hypothesis, neither of which says anything alone."""
    return [Item(pair, label) for pair, label in zip(*inference_pairs(count, seed, split), strict=True)]


ENTAILMENT = Task(
    name="entailment",
    aliases=("inference", "NLI", "MNLI", "RTE"),
    idea="Say whether the second sentence follows from the first, contradicts it, or neither.",
    source="after MNLI (arXiv:1704.05426); pairs from the generated world",
    answer=Classes(INFERENCES),
    items=inferences,
    corpora=("world", "reviews"),
)
