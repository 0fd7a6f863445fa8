"""Known people: what does somebody speak? The sentence does not say; one has to know the person."""

from playground.corpora.tinyworld.tasks.people import LANGUAGES, meetings
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes


def met(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences about two people; the label is the language of the second."""
    return [Item((words,), label) for words, label in zip(*meetings(count, seed, split), strict=True)]


KNOWN_PEOPLE = Task(
    name="known people",
    aliases=("knowledge", "who speaks what"),
    idea="One person met another; say which of eight languages the second speaks. The sentence does not mention it.",
    source="after K-BERT's knowledge-driven tasks (arXiv:1909.07606, sec. 4.3); facts of the generated world",
    answer=Classes(LANGUAGES),
    items=met,
    prompt=("speaks",),
)
