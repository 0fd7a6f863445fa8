"""Acceptability: is this a right sentence?"""

from functools import partial

from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes

SPARE = 10
"""Pairs more than needed, for two kinds may draw the same sentence."""


def judged(kinds: tuple[str, ...], count: int, seed: int, split: Split) -> list[Item]:
    """One sentence of each minimal pair, the wrong and the right one in turn, kinds in turn."""
    pairs = [minimal_pairs(kind, count // len(kinds) + SPARE, seed, split) for kind in kinds]
    drawn = {" ".join(right): (right, wrong) for several in zip(*pairs, strict=True) for right, wrong in several}
    return [Item((pair[1 - k % 2],), k % 2) for k, pair in enumerate([*drawn.values()][:count])]


ACCEPTABILITY = Task(
    name="acceptability",
    aliases=("CoLA",),
    idea="Say whether a sentence is grammatical: a or an, this or these, and its word order.",
    source="after CoLA (arXiv:1805.12471); minimal pairs from the generated grammar",
    answer=Classes(("wrong", "right")),
    items=partial(judged, ("determiner", "article", "order")),
    corpora=("agreement", "world"),
)
