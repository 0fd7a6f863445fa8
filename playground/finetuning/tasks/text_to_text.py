"""Text to text: four tasks in one, written as the corpus of the same name writes them, with answers as words."""

from functools import partial
from itertools import chain

from playground.corpora.catalog.text_to_text import TASKS, WRITTEN
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Writing

SOURCE = "T5 (arXiv:1910.10683, sec. 2.4 and appendix D); texts from the generated corpora"


def _items(name: str, count: int, seed: int, split: Split) -> list[Item]:
    """Examples of one task: its prefix and its texts, and the answer."""
    return [Item((tuple(text),), tuple(said)) for text, said in TASKS[name](count, seed, split)]


def _mixed(count: int, seed: int, split: Split) -> list[Item]:
    """Examples of all tasks in turn."""
    drawn = [_items(name, -(-count // len(TASKS)), seed, split) for name in TASKS]
    return list(chain.from_iterable(zip(*drawn, strict=True)))[:count]


def as_text(name: str) -> Task:
    """One of the tasks alone."""
    return Task(
        name=f"{name} as text", idea="A prefix says which task it is; the answer is written.", source=SOURCE,
        answer=Writing(), items=partial(_items, name), added_tokens=WRITTEN,
    )  # fmt: skip


TEXT_TO_TEXT = Task(
    name="text to text",
    aliases=("T5", "prefixes"),
    idea="Sentiment, entailment, similarity and acceptability in one: a prefix says which task it is, and the answer "
    "is written as text, 2.5 as 2.4.",
    source=SOURCE,
    answer=Writing(),
    items=_mixed,
    added_tokens=WRITTEN,
)
