"""Labelled examples, in words and as a packed batch of tokens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.corpora.corpus import pick
from playground.finetuning.data.input_format import LONGEST, InputFormat, Pieces, Row
from playground.finetuning.data.prompting import Verbalizer
from playground.finetuning.data.task_types import AnswerForm, Marked, Number, Span, Tags, Writing
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import batch, padded


@dataclass(frozen=True)
class Item:
    """One labelled example in words.

    `right` is the number of a class or of a choice, a number, a tag for each word of the first text, first word and
    number of words of a span in the last text, or the words to be written. `marked` is the place of a word in each
    text; each of the `choices` is read behind the texts.
    """

    texts: tuple[Sequence[str], ...]
    right: Any
    choices: tuple[Sequence[str], ...] = ()
    marked: tuple[int, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All words that are read, one after another: what must not be in both splits."""
        return tuple(word for text in (*self.texts, *self.choices) for word in text)


@dataclass(frozen=True)
class Dataset:
    """Texts `[r, t]` and what is right about them, in the form that `answer` says; `vector` stands for a whole text.

    With `ways` above 1 there are so many rows for each label: one for each choice, or one for each order of a pair.
    `places` `[r, 2]` are the marked words, or where an answer span may begin and end. `sides` `[r, t]` says which text
    of a pair stands where (-1: none), if each is to have a vector. `written` `[r, u]` is what a decoder has before each
    word that it writes. `asking` is the task as a gap, where the vocabulary has a word for every class. `given`
    `[r, t, f]` are numbers beside every word for the head alone.
    """

    tokens: Tokens
    labels: Tensor
    answer: AnswerForm
    vector: Literal["mean", "first", "last"] = "mean"
    ways: int = 1
    places: Tensor | None = None
    sides: Tensor | None = None
    written: Tensor | None = None
    asking: Verbalizer | None = None
    given: Tensor | None = None

    def to(self, device: torch.device) -> "Dataset":
        """The same texts on another device."""
        more = {name: kept.to(device) for name, kept in self._more()}
        return replace(self, tokens=self.tokens.to(device), labels=self.labels.to(device), **more)

    def pick(self, index: Tensor) -> "Dataset":
        """Some of the examples, each with all its rows."""
        rows = rows_of(index, self.ways)
        more = {name: kept[rows] for name, kept in self._more()}
        return replace(self, tokens=pick(self.tokens, rows), labels=self.labels[index], **more)

    def _more(self) -> Iterator[tuple[str, Tensor]]:
        for name in ("places", "sides", "written", "given"):
            kept = getattr(self, name)
            if kept is not None:
                yield name, kept


def pack(
    items: Sequence[Item],
    answer: AnswerForm,
    packing: InputFormat,
    tokenizer: Tokenizer,
    orders: int = 1,
    spare: Mapping[str, int] | None = None,
) -> Dataset:
    """Examples as one padded batch; words in `spare` are written with the ids that it gives."""
    specials, writes = tokenizer.specials, isinstance(answer, Writing)
    most = max(len(item.texts) + bool(item.choices) + writes for item in items)

    def pieces(words: Sequence[str]) -> Pieces:
        return Pieces.of(words, tokenizer, LONGEST // most, spare or {})

    ways = [_ways([pieces(text) for text in item.texts], list(map(pieces, item.choices)), orders) for item in items]
    rows = [packing.row(way, specials) for several in ways for way in several]
    if writes:
        targets = [[*pieces(item.right).ids, specials.end] for item in items]
        return _to_be_written(rows, targets, answer, packing, tokenizer)
    made = Dataset(_tokens(rows, packing, tokenizer), _labels(items, answer, rows), answer, packing.vector)
    paired = packing.sides and answer.about == "text" and len(items[0].texts) == 2
    sides = padded([row.sides() for row in rows], -1) if paired else None
    return replace(made, ways=len(ways[0]), places=_places(items, answer, rows), sides=sides)


def _tokens(rows: Sequence[Row], packing: InputFormat, tokenizer: Tokenizer) -> Tokens:
    tokens = batch([row.ids for row in rows], tokenizer.specials, tokenizer.words)
    segment = {"segment": padded([row.segment for row in rows], 0)} if packing.segments else {}
    return replace(tokens, labels=segment)


def _ways(texts: list[Pieces], choices: list[Pieces], orders: int) -> list[list[Pieces]]:
    """The rows of one example: one for each choice, one for each order, or just one."""
    if choices:
        return [[*texts, choice] for choice in choices]
    return [texts, texts[::-1]][:orders]


def _continued(row: Row, target: list[int], sep: int) -> Row:
    """A row that goes on with what is to be written; the sign at its end makes room for the one between texts."""
    ids = [*row.ids[: row.places[-1][-1]], sep, *target[:-1]]
    return Row(ids, [*row.segment, *[row.segment[-1] + 1] * len(ids)][: len(ids)], row.places)


def _labels(items: Sequence[Item], answer: AnswerForm, rows: Sequence[Row]) -> Tensor:
    """What is right, as the form of answer has it; a text that was cut loses the tags of what is gone."""
    if isinstance(answer, Tags):
        width = max(len(row.ids) for row in rows)
        tags = torch.full((len(rows), width), -1)
        for number, (item, row) in enumerate(zip(items, rows, strict=True)):
            places = row.places[0][:-1]
            tags[number, places] = torch.tensor(item.right[: len(places)], dtype=torch.long)
        return tags
    if isinstance(answer, Span):
        return torch.tensor([_ends(item.right, row.places[-1]) for item, row in zip(items, rows, strict=True)])
    return torch.tensor([item.right for item in items], dtype=torch.float if isinstance(answer, Number) else torch.long)


def _ends(span: tuple[int, int], places: Sequence[int]) -> list[int]:
    """First and last place of a span of words."""
    first, length = span
    return [places[min(first, len(places) - 2)], places[min(first + length, len(places) - 1)] - 1]


def _places(items: Sequence[Item], answer: AnswerForm, rows: Sequence[Row]) -> Tensor | None:
    """Where the marked words stand, or where the text begins and ends that holds the answer."""
    if isinstance(answer, Marked):
        both = zip(rows, items, strict=True)
        return torch.tensor([[row.places[k][place] for k, place in enumerate(item.marked)] for row, item in both])
    if isinstance(answer, Span):
        return torch.tensor([[row.places[-1][0], row.places[-1][-1] - 1] for row in rows])
    return None


def _to_be_written(
    rows: Sequence[Row], targets: Sequence[list[int]], answer: AnswerForm, packing: InputFormat, tokenizer: Tokenizer
) -> Dataset:
    """Texts with what comes next at every place: before a decoder's eyes, or further on in the row itself."""
    start, sep, pad = tokenizer.specials.start, tokenizer.specials.sep, tokenizer.specials.pad
    if packing.writes == "decoder":
        written = padded([[start, *target[:-1]] for target in targets], pad)
        return Dataset(_tokens(rows, packing, tokenizer), padded(targets, -1), answer, written=written)
    longer = [_continued(row, target, sep) for row, target in zip(rows, targets, strict=True)]
    coming = [[-1] * (len(row.ids) - len(target)) + target for row, target in zip(longer, targets, strict=True)]
    return Dataset(_tokens(longer, packing, tokenizer), padded(coming, -1), answer)


def rows_of(examples: Tensor, ways: int) -> Tensor:
    """The rows of some examples `[..., b]`, so many for each."""
    return (examples[..., None] * ways + torch.arange(ways, device=examples.device)).flatten(-2)
