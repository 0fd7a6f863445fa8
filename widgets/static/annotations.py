"""One document of a corpus as words with their layers of gold labels, ready to be drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, repeat

import torch
from torch import Tensor

from playground.corpora import Corpus
from playground.tokenizing.words import join_words
from widgets.design_tokens import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

HUES = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY)
DASHES = ("", "5 2", "2 2", "1 3")
"""Where a layer has more values than hues, the next seven are dashed; the letter beside tells all of them apart."""

FEW = 20  # A layer of so many values or fewer has codes of one letter

FIRST = ("pos", "phrase", "mention", "head", "aligned", "role", "number", "entity", "entity_type", "supersense")
"""The order of the layers that many corpora have; the others follow by name."""

APART = {"role": "phrase", "entity": "mention", "entity_type": "mention"}
"""Neighbours with the same role in two phrases play it twice; so do names."""

Run = tuple[int, int, str]  # first word, last word, and what is true of them


@dataclass(frozen=True)
class Layer:
    """What is known of the words: "bar" is a class, "bracket" belongs together, "arc" and "link" go to another word."""

    name: str
    style: str
    runs: tuple[Run, ...] = ()
    links: tuple[Run, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """Words, the first word of every sentence and of the second language, layers, and what holds for all words."""

    words: tuple[str, ...]
    sentences: tuple[int, ...]
    language: int
    layers: tuple[Layer, ...]
    whole: Mapping[str, str]

    def record(self) -> dict:
        """Everything as plain data for the picture."""
        return {
            "words": list(self.words),
            "tight": [False, *(join_words(pair) == "".join(pair) for pair in pairwise(self.words))],
            "sentences": list(self.sentences),
            "language": self.language,
            "layers": [_drawn(layer) for layer in self.layers],
        }


def known(corpus: Corpus) -> list[str]:
    """The labels that say something of at least one token, the basic ones first."""
    found = (name for name, row in corpus.labels.items() if int(row.max()) >= 0)
    return sorted(found, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def sheet(corpus: Corpus, first: int, last: int) -> Sheet:
    """The tokens from `first` to `last` as words; every piece of a word has the word's labels."""
    ids = corpus.ids[first:last].tolist()
    positions = [position for position, number in enumerate(ids) if number != corpus.tokenizer.specials.sep]
    pieces = [list(group) for _, group in groupby(positions, lambda position: int(corpus.word_ids[first + position]))]
    heads = torch.tensor([first + group[0] for group in pieces], dtype=torch.long)
    values = {name: corpus.labels[name][heads].tolist() for name in known(corpus)}
    sentence = corpus.sentence_ids[heads].tolist()
    language = values.get("language", [])
    whole = dict(_whole(corpus, values))
    return Sheet(
        words=tuple(corpus.tokenizer.join(ids[position] for position in group) for group in pieces),
        sentences=tuple(k for k in range(1, len(heads)) if sentence[k] != sentence[k - 1]),
        language=next((k for k in range(1, len(language)) if language[k] != language[k - 1]), 0),
        layers=tuple(_layers(corpus, {n: v for n, v in values.items() if n not in whole}, heads)),
        whole={name: value for name, value in whole.items() if value},
    )


def _whole(corpus: Corpus, values: Mapping[str, list[int]]) -> Iterator[tuple[str, str]]:
    """Labels that say the same of all words; those that say the same of all corpora's words need no mention."""
    for name, row in values.items():
        names = corpus.label_names.get(name, ())
        if names and row and row[0] >= 0 and set(row) == {row[0]}:
            yield name, names[row[0]] if len(names) > 1 else ""


def _layers(corpus: Corpus, values: Mapping[str, list[int]], heads: Tensor) -> Iterator[Layer]:
    """Brackets, arcs and links where the corpus has them, and a bar for every other class."""
    position = {token: k for k, token in enumerate(heads.tolist())}
    for name, row in values.items():
        names = corpus.label_names.get(name, ())
        if name == "head":
            relation = _said(corpus, values, "relation", len(row))
            yield Layer(
                name, "arc", links=tuple((position[h], k, relation[k]) for k, h in enumerate(row) if h in position)
            )
        elif name == "aligned":
            yield Layer(name, "link", links=tuple(_links(row, values.get("language", []))))
        elif name in ("phrase", "mention"):
            said = _said(corpus, values, "phrase_type" if name == "phrase" else "entity_type", len(row))
            yield Layer(name, "bracket", runs=tuple((a, b, said[a]) for a, b, _ in _runs(row)))
        elif names and not (name == "relation" and "head" in values) and name != "phrase_type":
            runs = _runs(row, values.get(APART.get(name, ""), ()))
            yield Layer(name, "bar", runs=tuple((a, b, names[v]) for a, b, v in runs), values=names)


def _said(corpus: Corpus, values: Mapping[str, list[int]], name: str, length: int) -> list[str]:
    """The names of the values of a label, "" where it says nothing."""
    names = corpus.label_names.get(name, ())
    return [names[v] if v >= 0 else "" for v in values[name]] if name in values else [""] * length


def _runs(row: Sequence[int], within: Sequence[int] = ()) -> Iterator[tuple[int, int, int]]:
    """First and last position and value of neighbours that are equal and within one phrase, if they say something."""
    position = 0
    for (value, _), group in groupby(zip(row, within or repeat(0), strict=False)):
        size = len(list(group))
        if value >= 0:
            yield position, position + size - 1, value
        position += size


def _links(row: Sequence[int], language: Sequence[int]) -> Iterator[Run]:
    """Every word of the first language and its twin, whose position is counted from the start of its own sentence."""
    second = language.index(1) if 1 in language else 0
    return ((k, second + twin, "") for k, twin in enumerate(row[:second]) if twin >= 0 and second + twin < len(row))


def codes(values: Sequence[str]) -> dict[str, str]:
    """A short code for every value, all different: a letter of it where they are few, else two."""
    found: dict[str, str] = {}
    for value in values:
        letters = [c for c in value.upper() if c.isalnum()] or ["?"]
        singles = letters if len(values) <= FEW else []
        pairs = (letters[0] + c for c in [*letters[1:], *"0123456789"])
        numbered = (f"{letters[0]}{k}" for k in range(10, 10 + len(values)))
        used = set(found.values())
        found[value] = next(c for c in (*singles, *pairs, *numbered) if c not in used)
    return found


def _drawn(layer: Layer) -> dict:
    short, position = codes(layer.values), {value: k for k, value in enumerate(layer.values)}
    runs = [
        {
            "first": first, "last": last, "said": said, "code": short.get(said, said),
            "hue": HUES[position.get(said, 0) % len(HUES)] if layer.style == "bar" else "",
            "dash": DASHES[position.get(said, 0) // len(HUES) % len(DASHES)],
        }
        for first, last, said in layer.runs
    ]  # fmt: skip
    links = [list(link) for link in layer.links]
    return {"name": layer.name.replace("_", " "), "style": layer.style, "runs": runs, "links": links}
