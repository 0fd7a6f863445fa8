"""Tasks by name: those of the catalogue, and the user's own labelled files.

A file is a table, a treebank, or two files that say the same in two languages. Which split a text belongs to depends on
its words alone, so a text that comes twice is never on both sides.
"""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, urlencode

from playground.catalog import choose, find
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import MOST_LABELS, count
from playground.corpora.readers.translations import read_sides
from playground.corpora.readers.treebank import read_tagged
from playground.corpora.sources import TABLES, TREEBANKS, two_files
from playground.corpora.tinyworld.tasks.draw import split_of
from playground.corpora.unspaced import describe_unspaced
from playground.errors import UserError
from playground.finetuning.data.dataset import AnswerForm, Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes, Tags, Writing
from playground.rng import derive
from playground.tokenizing.words import split_words

FEWEST = 8
"""Examples that each split needs."""

COLUMNS = "?"
"""Between a path and what is named of it: columns and encoding, as in "reviews.csv?text=said&encoding=cp1252"."""


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
    path = path_and_columns(name)[0]
    return os.path.isfile(path) or Path(path).suffix.lower() in (*TABLES, *TREEBANKS) or two_files(path) is not None


def path_and_columns(name: str) -> tuple[str, str]:
    """The path in a task's name and what is named of it; the path itself may hold the mark between them."""
    parts = name.split(COLUMNS)
    paths = (COLUMNS.join(parts[:number]) for number in range(len(parts), 0, -1))
    path = next((path for path in paths if os.path.exists(path) or two_files(path)), parts[0])
    return path, name[len(path) + 1 :]


def open_file(name: str) -> Task:
    """The task of a file: classes for a table, tags for a treebank, writing for two parallel files."""
    path, columns = path_and_columns(name)
    named = dict(parse_qsl(columns, keep_blank_values=True))
    pair = two_files(path)
    parts = (
        ("text", "second", "label", "encoding") if Path(path).suffix.lower() in TABLES and not pair else ("encoding",)
    )
    if other := next((part for part in named if part not in parts), None):
        raise UserError(f"{name} names {other!r}; of {path} can be named: {', '.join(parts)}.")
    if pair:
        idea = f"Write the line of {pair[1].name} that says what a line of {pair[0].name} says."
        lines, warning = read_sides(*pair, encoding=named.get("encoding"))
        return _task(name, idea, Writing(), *_unique((Item((one,), other) for one, other in lines), "line", warning))
    if Path(path).suffix.lower() in TREEBANKS:
        return _tagging(name, Path(path), named.get("encoding"))
    if Path(path).suffix.lower() in TABLES:
        return _classes(name, Path(path), named)
    raise UserError(
        f"{path} is not a labelled file; use a table ({', '.join(TABLES)}), a treebank ({', '.join(TREEBANKS)}) or two "
        "parallel texts joined by a plus sign."
    )


def file_task_name(
    path: str, text: str | None, label: str | None, second: str | None = None, encoding: str | None = None
) -> str:
    """The name of the task of a file whose columns or encoding are named; `second` "" says that there is one text."""
    named = {"text": text or None, "second": second, "label": label or None, "encoding": encoding or None}
    query = urlencode({what: value for what, value in named.items() if value is not None})
    return f"{path}{COLUMNS}{query}" if query else path


def _classes(name: str, path: Path, named: dict[str, str]) -> Task:
    columns = (named.get("text"), named.get("label"), named.get("second"))
    table = read_table(path, *columns, encoding=named.get("encoding"))
    if not 2 <= len(table.label_names) <= len(table.texts) / 2:
        looked = f"; {table.label_column!r} has {len(table.label_names)}" if table.label_column else ""
        raise UserError(
            f"{path.name} has no column with 2 to {MOST_LABELS} labels that occur again and again{looked}; its columns "
            f"are: {', '.join(map(repr, table.columns))}. Name one. {table.notice}".rstrip()
        )
    texts = zip(*filter(None, (table.texts, table.seconds)), strict=True)
    items = (Item(tuple(map(split_words, some)), label) for some, label in zip(texts, table.labels, strict=True))
    unique, warning = _unique(items, "text", table.warning)
    numbers = sorted({item.right for item in unique})
    names = tuple(table.label_names[number] for number in numbers)
    warning = " ".join(filter(None, [warning, _describe_alike(names)]))
    what = "pair of texts" if table.seconds else "text"
    listed = ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    idea = f"Say which of {len(names)} labels a {what} of {path.name} has: {listed}."
    numbered = [replace(item, right=numbers.index(item.right)) for item in unique]
    return _task(name, idea, Classes(names), numbered, warning, table.note)


def _describe_alike(names: Iterable[str]) -> str:
    """A sentence on labels that differ only in their case, or in how a number is written; nothing where none do."""
    forms: dict[str | float, list[str]] = {}
    for name in names:
        try:
            forms.setdefault(float(name), []).append(repr(name))
        except ValueError:
            forms.setdefault(name.casefold(), []).append(repr(name))
    alike = "; ".join(" and ".join(same) for same in forms.values() if len(same) > 1)
    return f"Labels that are written in several ways are read as different ones: {alike}." if alike else ""


def _tagging(name: str, path: Path, encoding: str | None) -> Task:
    sentences, warning = read_tagged(path, encoding=encoding)
    kinds = sorted(set(chain.from_iterable(tags for _, tags in sentences)) - {""})
    if len(kinds) < 2:
        raise UserError(f"{path.name} marks no parts of speech. Choose a treebank with tags in its fourth column.")
    number = {kind: k for k, kind in enumerate(kinds)} | {"": -1}
    items = (Item((words,), [number[tag] for tag in tags]) for words, tags in sentences)
    idea = f"Say which part of speech each word of {path.name} is."
    return _task(name, idea, Tags(tuple(kinds)), *_unique(items, "sentence", warning))


def _unique(items: Iterable[Item], what: str, warning: str) -> tuple[list[Item], str]:
    """The examples with words, of those with the same texts the first one, and a warning of the others."""
    first: dict[tuple[tuple[str, ...], ...], Item] = {}
    empty = again = conflicting = 0
    for item in items:
        if not all(item.texts):
            empty += 1
            continue
        kept = first.setdefault(tuple(tuple(word.lower() for word in text) for text in item.texts), item)
        again += kept is not item
        conflicting += kept.right != item.right
    warnings = [warning]
    warnings += [f"{count(empty, what)} left out without a word in it."] if empty else []
    answer = "translation" if what == "line" else "label"
    other = f", {conflicting:,} of these with another {answer}" if conflicting else ""
    warnings += [f"{count(again, what)} left out because the same {what} came before{other}."] if again else []
    return [*first.values()], " ".join(filter(None, warnings))


def _task(name: str, idea: str, answer: AnswerForm, items: Iterable[Item], warning: str, note: str = "") -> Task:
    """A task of these different examples."""
    file = Path(path_and_columns(name)[0]).name
    splits: dict[Split, list[Item]] = {"train": [], "test": []}
    for item in items:
        splits[split_of([word.lower() for word in item.words])].append(item)
    train, test = tuple(splits["train"]), tuple(splits["test"])
    if min(len(train), len(test)) < FEWEST:
        why = (
            f"{file} has {len(train) + len(test)} different texts; about {4 * FEWEST} are needed to learn and to test."
        )
        raise UserError(" ".join(filter(None, [why, note, warning])))
    if isinstance(answer, Classes) and len({item.right for item in train}) < 2:
        why = (
            f"{file} has {len(train)} different texts to learn from, all with the label "
            f"{answer.names[train[0].right]!r}; texts of two or more labels are needed."
        )
        raise UserError(" ".join(filter(None, [why, note, warning])))
    size = f"{len(train):,} texts to learn from, {len(test):,} others to be tested on."
    unspaced = describe_unspaced(Counter(word for item in (*train, *test) for word in item.words))
    return Task(
        name, idea, f"the user's own file {name}", answer, Examples(file, train, test), corpora=(),
        tests=len(test), examples=len(train), note=" ".join(filter(None, [note, unspaced, size])), warning=warning,
    )  # fmt: skip
