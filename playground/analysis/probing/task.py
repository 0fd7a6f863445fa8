"""A probing task: which items of a text it asks about, and their classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch

from playground.analysis.probing.items import Items, Texts, items_of
from playground.analysis.probing.texts import labelled
from playground.catalog import choose, find

UNITS = ("token", "pair", "sentence")

Made = tuple[Texts, Items]
"""The texts that are read, changed or not, and the items in them."""


@dataclass(frozen=True)
class ProbingTask:
    """A name, the question in words, its source, whether items are tokens, pairs of tokens or sentences.

    `make(texts, seed)` raises `UserError` where the corpus lacks the label. `unlike_paper` is how it differs. Few
    sentences have an item of a `rare` task.
    """

    name: str
    question: str
    source: str
    unit: Literal["token", "pair", "sentence"]
    make: Callable[[Texts, int], Made]
    unlike_paper: str = ""
    rare: bool = False

    @property
    def order(self) -> tuple[int]:
        """Its place in lists: tokens, then pairs, then sentences."""
        return (UNITS.index(self.unit),)


def probing_tasks() -> dict[str, ProbingTask]:
    """Every probing task by name."""
    return find("playground.analysis.probing.tasks", ProbingTask)


def find_probing_task(name: str) -> ProbingTask:
    """One probing task by its name, whatever the case."""
    return choose("playground.analysis.probing.tasks", ProbingTask, name, "probing task")


def token_items(texts: Texts, name: str) -> Items:
    """Every token that has a label, with its class; its type is the word."""
    label = labelled(texts, name)
    rows, positions = (label >= 0).nonzero(as_tuple=True)
    return items_of(rows, positions, label[rows, positions], texts.tokens.ids[rows, positions], texts.names[name])


def homographs(items: Items) -> Items:
    """The items whose word has several classes in these texts, the only ones for which context is needed."""
    types = items.types.unique(return_inverse=True)[1]
    seen = torch.zeros((int(types.max()) + 1, len(items.names)), dtype=torch.bool)
    seen[types, items.labels] = True
    kept = items.pick((seen.sum(1)[types] > 1).nonzero()[:, 0])
    made = items_of(kept.rows, kept.positions, kept.labels, kept.types, kept.names)
    return replace(made, rare=made.rare + items.rare)
