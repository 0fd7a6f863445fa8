"""Summary: what was best of all in a story?"""

from playground.corpora.tinyworld.tasks.summaries import digests
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Writing


def shortened(count: int, seed: int, split: Split) -> list[Item]:
    """A story that ends with "in short :", and the sentence that should come."""
    return [Item((one.words,), one.summary) for one in digests(count, seed, split)]


SUMMARY = Task(
    name="summary",
    aliases=("summarisation", "CNN/DM", "CNN/Daily Mail"),
    idea="Write the one sentence that sums up a story: what was best of all.",
    source="after CNN/Daily Mail (arXiv:1506.03340); stories from the corpus 'summaries'",
    answer=Writing(),
    items=shortened,
    corpora=("summaries",),
)
