"""Input formats: how the texts of a labelled example become one row of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from playground.batch import Specials
from playground.errors import UserError
from playground.models import Architecture
from playground.tokenizing import Tokenizer

LONGEST = 120
"""Tokens of all texts of a row together; each longer text is truncated to its share."""

Special = Literal["start", "end", "cls", "sep"]

Pieces = tuple[list[int], list[int]]
"""The ids of a text, and the index of the first piece of each of its words."""


@dataclass(frozen=True)
class InputFormat:
    """Special tokens before, between and after the texts of a row, and which vector represents the row.

    `vector` is the mean of all positions, the first or the last one; with `sides` each text of a pair has a vector of
    its own and the head compares them (InferSent, arXiv:1705.02364, sec. 3.1), else one vector represents the pair.
    `segments` gives each text its segment id where the model knows segments; `writes` is where a text is written:
    behind the input in the same row, by a decoder, or nowhere.
    """

    name: str
    source: str
    before: tuple[Special, ...] = ()
    between: tuple[Special, ...] = ("sep",)
    after: tuple[Special, ...] = ()
    vector: Literal["mean", "first", "last"] = "mean"
    sides: bool = False
    segments: bool = False
    writes: Literal["", "row", "decoder"] = ""

    def row(self, texts: Sequence[Pieces], specials: Specials) -> "Row":
        before, between, after = ([getattr(specials, k) for k in s] for s in (self.before, self.between, self.after))
        ids, segment, starts = list(before), list[int](), []
        for number, (pieces, first) in enumerate(texts):
            ids += between if number else []
            segment += [max(0, number - 1)] * (len(ids) - len(segment))
            starts.append([len(ids) + start for start in (*first, len(pieces))])
            ids += pieces
            segment += [number] * len(pieces)
        ids += after
        segment += [len(texts) - 1] * (len(ids) - len(segment))
        return Row(ids, segment, starts)


def encode(words: Sequence[str], tokenizer: Tokenizer, most: int, spare: Mapping[str, int]) -> Pieces:
    """Words as pieces, those in `spare` as one id; words that do not fit in whole are left out."""
    ids, starts = list[int](), list[int]()
    for word in words:
        pieces = [spare[word]] if word in spare else tokenizer.encode_word(word)
        if len(ids) + len(pieces) > most:
            break
        starts.append(len(ids))
        ids += pieces
    return ids, starts


@dataclass(frozen=True)
class Row:
    """Ids and segment ids of a row; `starts` are the positions of the words of each text, and one after its last."""

    ids: list[int]
    segment: list[int]
    starts: list[list[int]]

    def sides(self) -> list[int]:
        """For every position the number of its text, -1 for special tokens."""
        side = [-1] * len(self.ids)
        for number, (first, *_, end) in enumerate(self.starts):
            side[first:end] = [number] * (end - first)
        return side


PLAIN = InputFormat("plain", "the texts, [SEP] between them", sides=True)
LAST = InputFormat("last", "[START] texts, for left-to-right models", before=("start",), vector="last", sides=True)
FIRST = InputFormat("first", "texts [END], for right-to-left models", after=("end",), vector="first", sides=True)
ENDS = InputFormat("ends", "[START] texts [END], for two directions", before=("start",), after=("end",), sides=True)
BERT = InputFormat(
    "BERT", "arXiv:1810.04805, sec. 3: [CLS] a [SEP] b [SEP]", ("cls",), after=("sep",), vector="first", segments=True
)
GPT = InputFormat(
    "GPT", "Radford et al. 2018, sec. 3.3: start, a, delimiter, b, extract", ("start",), after=("end",), vector="last"
)

ANYWHERE = replace(PLAIN, writes="row")
"""For looking at a task's texts without a model."""

INPUT_FORMATS = {made.name: made for made in (PLAIN, LAST, FIRST, ENDS, BERT, GPT)}


def format_for(shape: Architecture, name: str | None = None) -> InputFormat:
    """The input format that suits a model, or the named one: only with segments is [CLS] known from pre-training."""
    one_sided = {"left to right": LAST, "right to left": FIRST}
    suited = one_sided.get(shape.attention) or (BERT if shape.segments else PLAIN)
    chosen = find_format(name) if name is not None else ENDS if shape.directions == 2 else suited
    return replace(chosen, writes="decoder" if shape.decoder_layers else "row" if shape.continues else "")


def find_format(name: str) -> InputFormat:
    """An input format by its name, whatever the case."""
    known = {key.lower(): made for key, made in INPUT_FORMATS.items()}
    if name.lower() not in known:
        raise UserError(f"There is no input format named {name!r}; choose one of: {', '.join(INPUT_FORMATS)}.")
    return known[name.lower()]
