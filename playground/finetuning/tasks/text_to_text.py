"""Text to text: three tasks in one, each announced by its name, with labels and numbers as words."""

from itertools import chain

from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Writing
from playground.finetuning.tasks.entailment import ENTAILMENT
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.finetuning.tasks.similarity import SIMILARITY

PARTS = (SENTIMENT, ENTAILMENT, SIMILARITY)


def as_text(task: Task, item: Item) -> Item:
    """An example with the name of its task before the texts and its answer as a word."""
    return Item(((task.name, *chain.from_iterable(item.texts)),), (task.answer.word(item.right),))


def mixed(count: int, seed: int, split: Split) -> list[Item]:
    """Examples of all tasks in turn."""
    each = -(-count // len(PARTS))
    drawn = [[as_text(task, item) for item in task.items(each, seed, split)] for task in PARTS]
    return list(chain.from_iterable(zip(*drawn, strict=True)))[:count]


TEXT_TO_TEXT = Task(
    name="text to text",
    aliases=("T5", "prefixes"),
    idea="Sentiment, entailment and similarity in one: the task is named "
    "first, and the answer is written as text, 2.57 as 2.6.",
    source="T5 (arXiv:1910.10683, sec. 2.4); texts of the three tasks",
    answer=Writing(),
    items=mixed,
    added_tokens=(*(task.name for task in PARTS), *chain.from_iterable(task.answer.words for task in PARTS)),
)
