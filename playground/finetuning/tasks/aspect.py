"""Aspect: how does a sentence find a thing? The sentence alone is read, with a classifier for each thing."""

from playground.corpora.tinyworld.tasks.aspects import ASPECTS, OPINIONS, opinions
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import OfEach


def alone(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences about two things, the thing that is asked about in the label."""
    return [Item((one.words,), len(OPINIONS) * one.aspect + one.opinion) for one in opinions(count, seed, split)]


ASPECT = Task(
    name="aspect",
    aliases=("ABSA", "aspect alone"),
    idea="A sentence calls two things good or bad; say what it calls one of them, or that it does not mention it.",
    source="arXiv:1903.09588, sec. 2.2 (the single sentence); sentences after the generated reviews",
    answer=OfEach(OPINIONS, ASPECTS),
    items=alone,
    corpora=("world", "reviews"),
)
