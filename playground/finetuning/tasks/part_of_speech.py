"""Part of speech: what kind of word is each?"""

from playground.corpora.tinyworld.labels import LABELS
from playground.corpora.tinyworld.tasks.tagged import tagged_sentences
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Tags

NAMES = LABELS["pos"]


def words(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences of all kinds with the part of speech of every word."""
    drawn = tagged_sentences(("Document",), count, seed, split)
    return [Item((one.words,), [NAMES.index(pos) for pos in one.pos]) for one in drawn]


PART_OF_SPEECH = Task(
    name="part of speech",
    aliases=("POS", "POS tagging", "tagging"),
    idea="Say for every word whether it is a noun, a verb, an adjective ...; some words can be two of these.",
    source="after the Penn Treebank's tags (Marcus et al. 1993); sentences from the generated world",
    answer=Tags(NAMES),
    items=words,
)
