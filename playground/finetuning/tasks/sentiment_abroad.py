"""Sentiment abroad: learnt in the first language, asked in both."""

from playground.corpora.tinyworld.tasks.translations import polar_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Abroad


def in_both(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences of the first language to learn from; for testing every other one of a class is in the second."""
    drawn = polar_pairs(count, seed, split)
    labels = [label for _, label in drawn]
    abroad = [split == "test" and labels[:k].count(label) % 2 for k, label in enumerate(labels)]
    return [
        Item((pair[1] if away else pair[0],), label + 2 * bool(away))
        for (pair, label), away in zip(drawn, abroad, strict=True)
    ]


SENTIMENT_ABROAD = Task(
    name="sentiment abroad",
    aliases=("zero-shot cross-lingual sentiment",),
    idea="Say whether a sentence is positive or negative: learned in the first language only, tested in both.",
    source="after XNLI (arXiv:1809.05053, sec. 4); sentences from the corpus 'parallel'",
    answer=Abroad(("bad", "good")),
    items=in_both,
    corpora=("bilingual", "parallel"),
)
