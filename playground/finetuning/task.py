"""A task: labelled texts for fine-tuning, split so that no test text is ever trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from playground.catalog import choose, find
from playground.example import Tokens
from playground.refusal import Refusal
from playground.tokenizing import Tokenizer

Split = Literal["train", "test"]
Sentences = Callable[[int, int, Split], tuple[list[list[str]], list[int]]]
"""From a number, a seed and a split to texts as words and their labels."""


@dataclass(frozen=True)
class Task:
    """Name, classes and where the labelled texts come from."""

    name: str
    idea: str
    source: str
    classes: tuple[str, ...]
    sentences: Sentences
    aliases: tuple[str, ...] = ()
    rank: int = 0

    def load(self, tokenizer: Tokenizer, count: int, seed: int, split: Split) -> "Labelled":
        """Labelled texts as a padded batch; a vocabulary that does not know the task's words is refused."""
        if count < 1:
            raise Refusal(f"The number of labelled texts is {count}; at least 1 is needed.")
        texts, labels = self.sentences(count, seed, split)
        rows = [tokenizer.encode_words(words) for words in texts]
        unknown = tokenizer.specials.unknown
        strange = sum(i == unknown for row in rows for i in row) / max(1, sum(map(len, rows)))
        if strange > 0.2:
            raise Refusal(
                f"This model's vocabulary does not know {strange:.0%} of the words of the task {self.name!r}; "
                "train it on the corpus 'world' or 'reviews', which speak the same language."
            )
        return Labelled(batch(rows, tokenizer), torch.tensor(labels))


@dataclass(frozen=True)
class Labelled:
    """Texts `[r, t]` and one label `[r]` for each."""

    tokens: Tokens
    labels: Tensor

    def to(self, device: torch.device) -> "Labelled":
        """The same texts on another device."""
        return Labelled(self.tokens.to(device), self.labels.to(device))


def batch(rows: list[list[int]], tokenizer: Tokenizer) -> Tokens:
    """Rows of ids as one padded batch `[r, t]`."""
    lengths = torch.tensor([len(r) for r in rows])
    width, specials = int(lengths.max()), tokenizer.specials
    ids = torch.tensor([r + [specials.pad] * (width - len(r)) for r in rows])
    places = torch.arange(width).expand(len(rows), width)
    return Tokens(ids, lengths, places, torch.zeros_like(ids), specials, vocabulary=tokenizer.words)


def tasks() -> dict[str, Task]:
    """Every task by name."""
    return find("playground.finetuning.tasks", Task)


def find_task(name: str) -> Task:
    """One task by its name or an alias."""
    return choose("playground.finetuning.tasks", Task, name)
