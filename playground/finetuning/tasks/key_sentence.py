"""Key sentence: which sentence of a story would do as its summary? Every sentence has a [CLS] of its own."""

from playground.corpora.tinyworld.tasks.stories import sentences
from playground.corpora.tinyworld.tasks.summaries import Digest, digests
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import CLS, Split, Task
from playground.finetuning.data.task_types import KeySentence

ENDING = 3
"""Words of "in short :", with which the story asks for its summary."""


def extracts(count: int, seed: int, split: Split) -> list[Item]:
    """Stories without their last words, [CLS] before every sentence and the right answer there."""
    return [_extract(one) for one in digests(count, seed, split)]


def _extract(one: Digest) -> Item:
    read = sentences(list(one.words[:-ENDING]))
    words = [word for sentence in read for word in (CLS, *sentence)]
    right = [tag for sentence in read for tag in (int("best" in sentence), *[-1] * len(sentence))]
    return Item((words,), right)


KEY_SENTENCE = Task(
    name="key sentence",
    aliases=("extractive summary", "BERTSUM"),
    idea="Find the sentence that a story calls best; each is scored at a "
    "[CLS] before it, so the model must be bidirectional.",
    source="BERTSUM (arXiv:1908.08345, sec. 3.1-3.2); stories from the corpus 'summaries'",
    answer=KeySentence(("other", "key")),
    items=extracts,
    corpora=("summaries",),
    added_tokens=(CLS,),
)
