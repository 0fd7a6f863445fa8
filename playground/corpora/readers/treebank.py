"""Treebanks: text that people have annotated with parts of speech and dependencies.

The format is CoNLL-U (Universal Dependencies, universaldependencies.org/format.html): a line for each word with ten
cells, an empty line after each sentence.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Unpack

import torch

from playground.corpora.build import LIMIT, DocumentWords, Labels, Options, WordLabels, build
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import Progress, read_lines
from playground.errors import UserError

CELLS = 10

LONGEST_SENTENCE = 10_000
"""Words; a longer sentence means that the empty lines are missing."""

_NO_WORD = re.compile(r"\d+-\d+|\d+\.\d+")
"""Ranges number what is written as one word ("1-2 don't"), numbers with a dot words that are not written at all."""


class Node(NamedTuple):
    """A word, its part of speech, the number of its head (0: none; -1: not annotated), and the relation to it."""

    form: str
    pos: str
    head: int
    relation: str


@dataclass
class _Bank:
    """What is read so far; each row of `head` is the index of another word, or -1."""

    words: DocumentWords
    pos: Labels = field(default_factory=Labels)
    relation: Labels = field(default_factory=Labels)
    head: array = field(default_factory=lambda: array("i"))
    marked: bool = False

    def add(self, nodes: list[Node]) -> None:
        """Add a sentence."""
        before = len(self.words.rows)
        self.words.add([node.form for node in nodes], [0] * len(nodes))
        for node in nodes:
            self.annotate(node.pos, node.relation, before + node.head - 1 if node.head > 0 else -1)

    def close(self) -> None:
        """End the document."""
        if self.words.close():
            self.annotate("", "", -1)

    def annotate(self, pos: str, relation: str, head: int) -> None:
        self.pos.add(pos)
        self.relation.add(relation)
        self.head.append(head)

    def comment(self, line: str) -> None:
        """Read a line that begins with #; paragraphs are documents as long as no document is marked."""
        mark = line[1:].split()[:1]
        if mark == ["newdoc"] or (mark == ["newpar"] and not self.marked):
            self.marked = mark == ["newdoc"]
            self.close()


def read_treebank(
    path: str | Path,
    *,
    limit: int = LIMIT,
    encoding: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Corpus:
    """A treebank with the labels `pos`, `relation` and `head`: the position of the first piece of the head.

    The words are those that are annotated ("do" and "n't"), as in all work on treebanks.
    """
    name = Path(path).name
    bank = _read(name, enumerate(read_lines(path, encoding, progress), 1), limit)
    labels = {"pos": bank.pos.sorted(), "relation": bank.relation.sorted()}
    labels = {label: row for label, row in labels.items() if row[1]}
    return build(
        name,
        bank.words,
        more=f"{bank.words.sentences:,} sentences with {', '.join([*labels, 'head'])} marked by people.",
        labels=WordLabels(
            values={label: row for label, (row, _) in labels.items()},
            heads={"head": torch.tensor(bank.head)},
            names={label: names for label, (_, names) in labels.items()},
        ),
        **options,
    )


def read_tagged(path: str | Path, *, encoding: str | None = None) -> tuple[list[tuple[list[str], list[str]]], str]:
    """The sentences of a treebank, each as its words and their parts of speech ("" for none), and what is left out."""
    bank = _read(Path(path).name, enumerate(read_lines(path, encoding), 1), LIMIT)
    forms, kinds = list(bank.words.types), ["", *bank.pos.numbers]
    sentences: list[tuple[list[str], list[str]]] = [([], []) for _ in range(bank.words.sentences)]
    for word, sentence, pos in zip(bank.words.rows, bank.words.sentence, bank.pos.rows, strict=True):
        if word:
            sentences[sentence][0].append(forms[word])
            sentences[sentence][1].append(kinds[pos + 1])
    return sentences, f"The file is longer; only its first {len(sentences):,} sentences are used." * bank.words.cut


def _read(name: str, lines: Iterator[tuple[int, str]], limit: int) -> _Bank:
    bank = _Bank(DocumentWords(limit))
    nodes: list[Node] = []
    for number, line in lines:
        if line.startswith("#"):
            bank.comment(line)
        elif line.strip():
            nodes += _nodes(f"Line {number} of {name}", line, len(nodes) + 1)
        else:
            _finish(f"The sentence before line {number} of {name}", bank, nodes)
            nodes = []
        if bank.words.cut:
            break
    _finish(f"The last sentence of {name}", bank, nodes)
    bank.close()
    return bank


def _finish(where: str, bank: _Bank, nodes: list[Node]) -> None:
    """Add a complete sentence; one for which there is no room ends the reading."""
    wrong = next((node for node in nodes if node.head > len(nodes)), None)
    if wrong:
        raise UserError(f"{where} has {len(nodes)} words, but {wrong.form!r} depends on word {wrong.head}.")
    if len(nodes) > bank.words.room:
        bank.words.cut = True
    elif nodes:
        bank.add(nodes)


def _nodes(where: str, line: str, expected: int) -> list[Node]:
    """The word of a line; none where the line has no word of its own."""
    cells = line.split("\t")
    if len(cells) != CELLS:
        raise UserError(f"{where} has {len(cells)} cells; a line of CoNLL-U has {CELLS}, with tabs between them.")
    number, form, _, pos, _, _, head, relation, _, _ = (cell.strip() for cell in cells)
    if _NO_WORD.fullmatch(number):
        return []
    if number != str(expected):
        raise UserError(f"{where} has the word number {number!r}; {expected} should come here.")
    if expected > LONGEST_SENTENCE:
        raise UserError(
            f"{where} is in a sentence of more than {LONGEST_SENTENCE:,} words; end sentences by empty lines."
        )
    if head != "_" and not re.fullmatch(r"[0-9]{1,6}", head):
        raise UserError(f"{where} has the head {head!r}; it must be the number of a word, 0 or _.")
    pos, relation = ("" if cell == "_" else cell for cell in (pos, relation))
    return [Node(form.replace(" ", "_") or "_", pos, -1 if head == "_" else int(head), relation)]
