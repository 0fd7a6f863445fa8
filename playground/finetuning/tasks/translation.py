"""Translation: say a sentence in another language."""

from playground.corpora.tinyworld.tasks.translations import translated
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Writing


def both(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences of the first language and their translations into the second."""
    return [Item((one,), other) for one, other in translated(count, seed, split)]


TRANSLATION = Task(
    name="translation",
    aliases=("machine translation", "MT", "WMT"),
    idea="Write a sentence in the second language, which puts the verb last.",
    source="after WMT14 (Bojar et al. 2014); pairs from the corpus 'parallel'",
    answer=Writing(),
    items=both,
    corpora=("parallel",),
    tests=200,
)
