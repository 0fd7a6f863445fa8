"""The user's own labelled files as tasks: a table, a treebank, or two files that say the same in two languages.

A text belongs to one split for ever, by what it says, so a text that comes twice is never on both sides.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, urlencode

from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.translations import read_sides
from playground.corpora.readers.treebank import read_tagged
from playground.corpora.sources import TABLES, TREEBANKS, two_files
from playground.corpora.tinyworld.tasks.draw import split_of
from playground.errors import Refusal
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import AnswerForm, Classes, Tags, Writing
from playground.rng import derive
from playground.tokenizing.words import split_words

FEWEST = 8
"""Examples that each split needs."""

COLUMNS = "?"
"""Between a path and the columns that are named, as in "reviews.csv?text=said&label=stars"."""


@dataclass(frozen=True)
class Examples:
    """All examples of a file, by split."""

    name: str
    train: tuple[Item, ...]
    test: tuple[Item, ...]

    def __call__(self, count: int, seed: int, split: Split) -> list[Item]:
        """So many examples that a seed decides: for learning as many of each class as there are, else as they come."""
        known = self.train if split == "train" else self.test
        if count > len(known):
            raise Refusal(
                f"{self.name} has {len(known):,} examples in the split {split}, not {count:,}; ask for fewer."
            )
        mixed = Random(derive(seed, self.name, split)).sample(known, len(known))
        return (_in_turn(mixed) if split == "train" else mixed)[:count]


def is_file(name: str) -> bool:
    """Whether a task's name is that of a file or of two."""
    path = name.partition(COLUMNS)[0]
    return os.path.isfile(path) or Path(path).suffix.lower() in (*TABLES, *TREEBANKS) or two_files(name) is not None


def open_file(name: str) -> Task:
    """The task that a file sets: classes for a table, tags for a treebank, writing for two parallel files."""
    path, _, columns = name.partition(COLUMNS)
    pair = two_files(name)
    if pair:
        return _translation(name, *pair)
    if Path(path).suffix.lower() in TREEBANKS:
        return _tagging(name, Path(path))
    if Path(path).suffix.lower() in TABLES:
        return _classes(name, Path(path), dict(parse_qsl(columns)))
    raise Refusal(
        f"{path} is no labelled file; take a table ({', '.join(TABLES)}), a treebank ({', '.join(TREEBANKS)}) or two "
        "parallel texts joined by a plus sign."
    )


def named(path: str, text: str | None, label: str | None) -> str:
    """The name of the task of a table whose columns are named."""
    columns = urlencode({what: column for what, column in (("text", text), ("label", label)) if column})
    return f"{path}{COLUMNS}{columns}" if columns else path


def _classes(name: str, path: Path, columns: dict[str, str]) -> Task:
    table = read_table(path, columns.get("text"), columns.get("label"))
    if not 2 <= len(table.label_names) <= len(table.texts) / 2:
        looked = f"; {table.label_column!r} has {len(table.label_names)}" if table.label_column else ""
        raise Refusal(
            f"{path.name} has no column with two or more labels that come again and again{looked}; its columns are: "
            f"{', '.join(map(repr, table.columns))}. Name one."
        )
    items = (Item((split_words(text),), label) for text, label in zip(table.texts, table.labels, strict=True))
    idea = f"Say which of {len(table.label_names)} labels a text of {path.name} has: {_listed(table.label_names)}."
    return _task(name, idea, Classes(table.label_names), items, table.notice)


def _tagging(name: str, path: Path) -> Task:
    sentences = read_tagged(path)
    kinds = sorted(set(chain.from_iterable(tags for _, tags in sentences)) - {""})
    if len(kinds) < 2:
        raise Refusal(f"{path.name} marks no parts of speech; take a treebank that does, in its fourth column.")
    number = {kind: k for k, kind in enumerate(kinds)} | {"": -1}
    items = (Item((words,), [number[tag] for tag in tags]) for words, tags in sentences)
    return _task(name, f"Say which part of speech each word of {path.name} is.", Tags(tuple(kinds)), items)


def _translation(name: str, first: Path, second: Path) -> Task:
    items = (Item((one,), other) for one, other in read_sides(first, second))
    return _task(name, f"Write the line of {second.name} that says what a line of {first.name} says.", Writing(), items)


def _task(name: str, idea: str, answer: AnswerForm, items: Iterable[Item], said: str = "") -> Task:
    """A task of these examples; of those with the same text the first one counts."""
    unique = {tuple(word.lower() for word in item.words): item for item in reversed([i for i in items if i.words])}
    sides: dict[Split, list[Item]] = {"train": [], "test": []}
    for words, item in reversed(unique.items()):
        sides[split_of(words)].append(item)
    train, test = tuple(sides["train"]), tuple(sides["test"])
    if min(len(train), len(test)) < FEWEST:
        said = f"{Path(name).name} has {len(unique)} different texts"
        raise Refusal(f"{said}; about {4 * FEWEST} are needed to learn and to test.")
    counts = (
        f"{len(train):,} texts to learn from, {len(test):,} others to be tested on; a text that comes twice is one."
    )
    return Task(
        name=name,
        idea=idea,
        source=f"the user's own file {name}",
        answer=answer,
        items=Examples(Path(name.partition(COLUMNS)[0]).name, train, test),
        corpora=(),
        tests=len(test),
        examples=len(train),
        notice=f"{said} {counts}".strip(),
    )


def _in_turn(items: Sequence[Item]) -> list[Item]:
    """One example of each class after another, as long as there are some."""
    if not isinstance(items[0].right, int):
        return list(items)
    classes: dict[int, list[Item]] = {}
    for item in items:
        classes.setdefault(item.right, []).append(item)
    return [item for several in zip_longest(*classes.values()) for item in several if item is not None]


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")
