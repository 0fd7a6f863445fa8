"""Input formats: how the texts of a labelled example become one row of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from playground.batch import Specials
from playground.errors import UserError
from playground.knob import Knob
from playground.models import Architecture
from playground.tokenizing import Tokenizer

SPECIALS, LONGEST_ROW = 8, 512
"""Positions of a row that are left for special tokens, and all positions of it, as in BERT (arXiv:1810.04805, A.2)."""

MAX_LENGTH = Knob("max_length", LONGEST_ROW - SPECIALS, 4, LONGEST_ROW - SPECIALS, (), "tokens", "")
"""The most tokens of all texts of a row together."""

Special = Literal["start", "end", "cls", "sep"]

Pieces = tuple[list[int], list[int]]
"""The ids of a text, and the index of the first piece of each of its words."""


@dataclass(frozen=True)
class InputFormat:
    """Special tokens before, between and after the texts of a row, and which vector represents the row.

    `vector` is the mean of all positions, the first or the last one; with `sides` each text of a pair has a vector of
    its own and the head compares them (InferSent, arXiv:1705.02364, sec. 3.1), else one vector represents the pair.
    `segments` gives each text its segment id where the model knows segments; `writes` is where a text is written:
    behind the input in the same row, by a decoder, or nowhere. `max_length` are the most tokens of the texts of a row.
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
    max_length: int = MAX_LENGTH.default

    def row(self, texts: Sequence[Pieces], specials: Specials) -> "InputRow":
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
        return InputRow(ids, segment, starts)


def encode(words: Sequence[str], tokenizer: Tokenizer, most: int, spare: Mapping[str, int]) -> Pieces:
    """Words as pieces, those in `spare` as one id; what comes after more than `most` pieces is not read."""
    ids, starts = list[int](), list[int]()
    words = words[: most + 1]
    for word, spelt in zip(words, tokenizer.spell(words), strict=True):
        if len(ids) > most:
            break
        starts.append(len(ids))
        ids += [spare[word]] if word in spare else spelt
    return ids, starts


def share_of_each(lengths: Sequence[int], most: int) -> int:
    """How long each text may be, so that all fit; the longest are truncated first (BERT's run_classifier.py)."""
    share = most
    while share > 1 and sum(min(length, share) for length in lengths) > most:
        share -= 1
    return share


def truncated(pieces: Pieces, most: int) -> Pieces:
    """The first pieces of a text, perhaps only a part of its last word."""
    ids, starts = pieces
    return ids[:most], [start for start in starts if start < most]


@dataclass(frozen=True)
class InputRow:
    """Ids and segment ids of a row; `starts` are the positions of the words of each text, and one after its last."""

    ids: list[int]
    segment: list[int]
    starts: list[list[int]]

    def start(self, text: int, word: int) -> int:
        """The position of a word of a text, or of the last one where the text was truncated before it."""
        starts = self.starts[text]
        return starts[min(word, len(starts) - 2)]

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


def format_for(shape: Architecture, name: str | None = None, max_length: int | None = None) -> InputFormat:
    """The input format that suits a model, or the named one: only with segments is [CLS] known from pre-training.

    Rows are as long as the texts are, up to `max_length` or what the model can read.
    """
    one_sided = {"left to right": LAST, "right to left": FIRST}
    suited = one_sided.get(shape.attention) or (BERT if shape.segments else PLAIN)
    chosen = find_format(name) if name is not None else ENDS if shape.directions == 2 else suited
    most = MAX_LENGTH.default
    if shape.positions == "learned":
        most = max(4, min(most, shape.max_position_embeddings - SPECIALS))
    if (max_length or 0) > most:
        raise UserError(f"max_length is {max_length}; this model reads rows with at most {most} tokens of text.")
    writes = "decoder" if shape.decoder_layers else "row" if shape.continues else ""
    return replace(chosen, writes=writes, max_length=max_length or most)


def find_format(name: str) -> InputFormat:
    """An input format by its name, whatever the case."""
    known = {key.lower(): made for key, made in INPUT_FORMATS.items()}
    if name.lower() not in known:
        raise UserError(f"There is no input format named {name!r}; choose one of: {', '.join(INPUT_FORMATS)}.")
    return known[name.lower()]
