"""Part of speech abroad: learnt in the first language, asked in both."""

from playground.corpora.tinyworld.labels import LABELS
from playground.corpora.tinyworld.tasks.translations import tagged_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import TagsAbroad

NAMES = LABELS["pos"]


def in_both(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences of the first language to learn from; for testing every other one is in the second."""
    return [
        _item(pair, tags, split == "test" and k % 2 == 1)
        for k, (pair, tags) in enumerate(tagged_pairs(count, seed, split))
    ]


def _item(pair: tuple[list[str], list[str]], tags: tuple[tuple[str, ...], tuple[str, ...]], abroad: bool) -> Item:
    return Item((pair[abroad],), [NAMES.index(tag) + len(NAMES) * abroad for tag in tags[abroad]])


PART_OF_SPEECH_ABROAD = Task(
    name="part of speech abroad",
    aliases=("cross-lingual tagging", "UDPOS"),
    idea="Say for every word which part of speech it is: learned in the first language only, tested in both.",
    source="after mBERT's tagging (arXiv:1906.01502, sec. 2.2); sentences from the corpus 'parallel'",
    answer=TagsAbroad(NAMES),
    items=in_both,
    corpora=("bilingual", "parallel"),
)
