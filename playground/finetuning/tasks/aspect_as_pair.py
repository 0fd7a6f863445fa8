"""Aspect as a pair: the thing that is asked about becomes a second sentence, and one classifier does for all."""

from playground.corpora.tinyworld.tasks.aspects import ASPECTS, OPINIONS, opinions
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def asked(count: int, seed: int, split: Split) -> list[Item]:
    """The sentences of the task `aspect`, each with the thing that is asked about behind it."""
    return [Item((one.words, ["the", ASPECTS[one.aspect]]), one.opinion) for one in opinions(count, seed, split)]


ASPECT_AS_PAIR = Task(
    name="aspect as a pair",
    aliases=("auxiliary sentence", "ABSA pair"),
    idea="The same sentences as in the task aspect; the aspect in "
    "question is a second text, not a separate classifier.",
    source="arXiv:1903.09588, sec. 2.1 (auxiliary sentences); sentences after the generated reviews",
    answer=Classes(OPINIONS),
    items=asked,
    corpora=("world", "reviews"),
)
