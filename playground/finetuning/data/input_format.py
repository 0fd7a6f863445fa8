"""How the texts of a labelled example become one row of tokens, which every task can then read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from playground.batch import Specials
from playground.errors import Refusal
from playground.models import Architecture
from playground.tokenizing import Tokenizer

LONGEST = 120
"""Tokens of all texts of a row together; longer texts are cut, each to its share."""

Sign = Literal["start", "end", "cls", "sep"]


@dataclass(frozen=True)
class InputFormat:
    """Signs before, between and after the texts of a row, and what stands for the row as a whole.

    `vector` is the mean of all positions, the first or the last one; with `sides` each text of a pair has a vector of
    its own and the head compares them (InferSent, arXiv:1705.02364, sec. 3.1), else one vector stands for the pair.
    `segments` tell the texts apart where the model knows segments; `writes` is where a text is written: further on in
    the same row, by a decoder, or nowhere.
    """

    name: str
    source: str
    before: tuple[Sign, ...] = ()
    between: tuple[Sign, ...] = ("sep",)
    after: tuple[Sign, ...] = ()
    vector: Literal["mean", "first", "last"] = "mean"
    sides: bool = False
    segments: bool = False
    writes: Literal["", "row", "decoder"] = ""

    def row(self, texts: Sequence["Pieces"], specials: Specials) -> "Row":
        """The texts as one row, with the place of every word's first piece."""
        ids, segment, places = self._signs(self.before, specials), [], []
        for number, text in enumerate(texts):
            ids += self._signs(self.between, specials) if number else []
            segment += [max(0, number - 1)] * (len(ids) - len(segment))
            places.append([len(ids) + first for first in (*text.first, len(text.ids))])
            ids += text.ids
            segment += [number] * len(text.ids)
        ids += self._signs(self.after, specials)
        segment += [len(texts) - 1] * (len(ids) - len(segment))
        return Row(ids, segment, places)

    def _signs(self, signs: Sequence[Sign], specials: Specials) -> list[int]:
        return [getattr(specials, sign) for sign in signs]


@dataclass(frozen=True)
class Pieces:
    """The ids of a text and the number of the first piece of each of its words."""

    ids: list[int]
    first: list[int]

    @classmethod
    def of(cls, words: Sequence[str], tokenizer: Tokenizer, most: int, spare: Mapping[str, int]) -> "Pieces":
        """Words as pieces, those in `spare` as one id; words that do not fit in whole are left out."""
        ids: list[int] = []
        first: list[int] = []
        for word in words:
            pieces = [spare[word]] if word in spare else tokenizer.encode_word(word)
            if len(ids) + len(pieces) > most:
                break
            first.append(len(ids))
            ids += pieces
        return cls(ids, first)


@dataclass(frozen=True)
class Row:
    """Ids and segments of a row; `places` are those of the words of each text, and one after its last piece."""

    ids: list[int]
    segment: list[int]
    places: list[list[int]]

    def sides(self) -> list[int]:
        """For every place the number of the text that stands there, -1 for signs."""
        side = [-1] * len(self.ids)
        for number, (first, *_, end) in enumerate(self.places):
            side[first:end] = [number] * (end - first)
        return side


PLAIN = InputFormat(
    "plain", "the texts as they stand, [SEP] between them; a text is the mean of its positions", sides=True
)

LAST = InputFormat(
    "last",
    "the same behind [START], for who sees only what stands left: a text is its last position",
    before=("start",),
    vector="last",
    sides=True,
)

FIRST = InputFormat(
    "first",
    "the same before [END], for who sees only what stands right: a text is its first position",
    after=("end",),
    vector="first",
    sides=True,
)

ENDS = InputFormat(
    "ends",
    "[START] text [END], for two readers that come from either side: a text is the mean of its positions",
    before=("start",),
    after=("end",),
    sides=True,
)

BERT = InputFormat(
    "BERT",
    "arXiv:1810.04805, sec. 3: [CLS] a [SEP] b [SEP] with segments; the first position is the row",
    before=("cls",),
    after=("sep",),
    vector="first",
    segments=True,
)

GPT = InputFormat(
    "GPT",
    "Radford et al. 2018, sec. 3.3: start, a, delimiter, b, extract; the last position is the row",
    before=("start",),
    after=("end",),
    vector="last",
)

ANYWHERE = replace(PLAIN, writes="row")
"""For looking at a task's texts without a model."""

PACKINGS = {packing.name: packing for packing in (PLAIN, LAST, FIRST, ENDS, BERT, GPT)}


def packing_for(shape: Architecture, name: str | None = None) -> InputFormat:
    """The packing that suits a model, or the named one: only with segments is [CLS] known from pre-training."""
    chosen = _suited(shape) if name is None else packing_named(name)
    return replace(chosen, writes="decoder" if shape.decoder_layers else "row" if shape.continues else "")


def _suited(shape: Architecture) -> InputFormat:
    if shape.directions == 2:
        return ENDS
    one_sided = {"left to right": LAST, "right to left": FIRST}
    return one_sided.get(shape.attention) or (BERT if shape.segments else PLAIN)


def packing_named(name: str) -> InputFormat:
    """A packing by its name, whatever the case."""
    known = {key.lower(): packing for key, packing in PACKINGS.items()}
    if name.lower() not in known:
        raise Refusal(f"There is no packing named {name!r}; choose one of: {', '.join(PACKINGS)}.")
    return known[name.lower()]
