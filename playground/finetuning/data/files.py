"""Tasks by name: those of the catalogue, and the user's own labelled files.

A file is a table, a treebank, or two files that say the same in two languages. Which split a text belongs to depends on
its words alone, so a text that comes twice is never on both sides.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, urlencode

from playground.catalog import choose, find
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.translations import read_sides
from playground.corpora.readers.treebank import read_tagged
from playground.corpora.sources import TABLES, TREEBANKS, two_files
from playground.corpora.tinyworld.tasks.draw import split_of
from playground.errors import UserError
from playground.finetuning.data.dataset import AnswerForm, Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes, Tags, Writing
from playground.rng import derive
from playground.tokenizing.words import split_words

FEWEST = 8
"""Examples that each split needs."""

COLUMNS = "?"
"""Between a path and the columns that are named, as in "reviews.csv?text=said&label=stars"."""


def tasks() -> dict[str, Task]:
    """Every task of the catalogue by name."""
    return find("playground.finetuning.tasks", Task)


def find_task(name: str) -> Task:
    """One task by its name or an alias, or one made of the user's labelled file by its path."""
    try:
        return choose("playground.finetuning.tasks", Task, name)
    except UserError:
        if not is_file(name):
            raise
    return open_file(name)


@dataclass(frozen=True)
class Examples:
    """All examples of a file, by split."""

    name: str
    train: tuple[Item, ...]
    test: tuple[Item, ...]

    def __call__(self, count: int, seed: int, split: Split) -> list[Item]:
        """A sample that a seed decides; for training the classes come in turn, as long as there are examples."""
        known = self.train if split == "train" else self.test
        if count > len(known):
            raise UserError(
                f"{self.name} has {len(known):,} examples in the split {split}, not {count:,}; ask for fewer."
            )
        mixed = Random(derive(seed, self.name, split)).sample(known, len(known))
        if split == "test" or not isinstance(mixed[0].right, int):
            return mixed[:count]
        classes: dict[int, list[Item]] = {}
        for item in mixed:
            classes.setdefault(item.right, []).append(item)
        return [item for turn in zip_longest(*classes.values()) for item in turn if item is not None][:count]


def is_file(name: str) -> bool:
    """Whether a task's name is that of a file or of two."""
    path = name.partition(COLUMNS)[0]
    return os.path.isfile(path) or Path(path).suffix.lower() in (*TABLES, *TREEBANKS) or two_files(name) is not None


def open_file(name: str) -> Task:
    """The task of a file: classes for a table, tags for a treebank, writing for two parallel files."""
    path, _, columns = name.partition(COLUMNS)
    pair = two_files(name)
    if pair:
        idea = f"Write the line of {pair[1].name} that says what a line of {pair[0].name} says."
        return _task(name, idea, Writing(), (Item((one,), other) for one, other in read_sides(*pair)))
    if Path(path).suffix.lower() in TREEBANKS:
        return _tagging(name, Path(path))
    if Path(path).suffix.lower() in TABLES:
        return _classes(name, Path(path), dict(parse_qsl(columns)))
    raise UserError(
        f"{path} is no labelled file; take a table ({', '.join(TABLES)}), a treebank ({', '.join(TREEBANKS)}) or two "
        "parallel texts joined by a plus sign."
    )


def file_task_name(path: str, text: str | None, label: str | None) -> str:
    """The name of the task of a table whose columns are named."""
    columns = urlencode({what: column for what, column in (("text", text), ("label", label)) if column})
    return f"{path}{COLUMNS}{columns}" if columns else path


def _classes(name: str, path: Path, columns: dict[str, str]) -> Task:
    table = read_table(path, columns.get("text"), columns.get("label"))
    names = table.label_names
    if not 2 <= len(names) <= len(table.texts) / 2:
        looked = f"; {table.label_column!r} has {len(names)}" if table.label_column else ""
        raise UserError(
            f"{path.name} has no column with two or more labels that come again and again{looked}; its columns are: "
            f"{', '.join(map(repr, table.columns))}. Name one."
        )
    items = (Item((split_words(text),), label) for text, label in zip(table.texts, table.labels, strict=True))
    listed = ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    idea = f"Say which of {len(names)} labels a text of {path.name} has: {listed}."
    return _task(name, idea, Classes(names), items, table.notice)


def _tagging(name: str, path: Path) -> Task:
    sentences = read_tagged(path)
    kinds = sorted(set(chain.from_iterable(tags for _, tags in sentences)) - {""})
    if len(kinds) < 2:
        raise UserError(f"{path.name} marks no parts of speech; take a treebank that does, in its fourth column.")
    number = {kind: k for k, kind in enumerate(kinds)} | {"": -1}
    items = (Item((words,), [number[tag] for tag in tags]) for words, tags in sentences)
    return _task(name, f"Say which part of speech each word of {path.name} is.", Tags(tuple(kinds)), items)


def _task(name: str, idea: str, answer: AnswerForm, items: Iterable[Item], notice: str = "") -> Task:
    """A task of these examples; of those with the same text the first one counts."""
    file = Path(name.partition(COLUMNS)[0]).name
    unique = {tuple(word.lower() for word in item.words): item for item in reversed([i for i in items if i.words])}
    splits: dict[Split, list[Item]] = {"train": [], "test": []}
    for words, item in reversed(unique.items()):
        splits[split_of(words)].append(item)
    train, test = tuple(splits["train"]), tuple(splits["test"])
    if min(len(train), len(test)) < FEWEST:
        raise UserError(
            f"{Path(name).name} has {len(unique)} different texts; about {4 * FEWEST} are needed to learn and to test."
        )
    size = f"{len(train):,} texts to learn from, {len(test):,} others to be tested on; a text that comes twice is one."
    return Task(
        name, idea, f"the user's own file {name}", answer, Examples(file, train, test), corpora=(),
        tests=len(test), examples=len(train), notice=f"{notice} {size}".strip(),
    )  # fmt: skip
