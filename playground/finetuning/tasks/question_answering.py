"""Question answering: which words of a passage are the answer?"""

from playground.corpora.tinyworld.tasks.questions import reading_passages
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Span


def asked(count: int, seed: int, split: Split) -> list[Item]:
    """A question, and the passage that answers it behind, so that who reads left to right knows what is asked."""
    drawn = reading_passages(count, seed, split)
    return [Item((one.question, one.words), (one.start, one.length)) for one in drawn]


QUESTION_ANSWERING = Task(
    name="question answering",
    aliases=("QA", "SQuAD", "questions"),
    idea="Four people moved somewhere; mark the words that say where one of them is.",
    source="after SQuAD (arXiv:1606.05250); passages from the corpus 'questions'",
    answer=Span(),
    items=asked,
    corpora=("questions",),
)
