"""Sentiment: does a sentence of a review praise or blame?"""

from playground.corpora.tinyworld.tasks.polarity import polarity_sentences
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def reviews(count: int, seed: int, split: Split) -> list[Item]:
    """Single sentences, half of them good."""
    return [Item((words,), label) for words, label in zip(*polarity_sentences(count, seed, split), strict=True)]


SENTIMENT = Task(
    name="sentiment",
    aliases=("polarity", "sentiment analysis", "SST", "SST-2"),
    idea="Say whether a sentence of a review is positive or negative; some contain a negation.",
    source="after SST-2 (Socher et al. 2013); texts from the generated corpus",
    answer=Classes(("bad", "good")),
    items=reviews,
    corpora=("world", "reviews"),
)
