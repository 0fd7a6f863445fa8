"""What travels between the engine and the drawing: the record of a stage, and the edits that come back."""

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, Required, TypedDict


class Cell(TypedDict):
    """A token of a lane; what is left out is as in `record.DEFAULTS`."""

    text: str
    key: str
    state: NotRequired[str]
    chosen: NotRequired[bool]
    scored: NotRequired[bool]
    badge: NotRequired[str]
    was: NotRequired[str]


class Ids(TypedDict):
    """What a model reads at each position beside its token: the segment, language, position or a label.

    `words` has a text for each value, "" where nothing is known; without any the values are positions.
    """

    name: str
    title: str
    values: list[int]
    words: list[str]


class Lane(TypedDict):
    """A row of tokens: the text, the input, the decoder's input or the targets."""

    name: str
    title: str
    cells: list[Cell]
    ids: NotRequired[list[Ids]]


class Weights(TypedDict):
    """Attention weights as base64 of bytes, `[heads, rows, columns]` for each layer that is sent."""

    heads: int
    layers: int
    data: dict[str, str]


class Matrix(TypedDict):
    """An attention mask: `states` is base64 of a byte per cell, rows are queries and columns keys."""

    name: str
    title: str
    rows: list[str]
    columns: list[str]
    shape: list[int]
    states: str
    scored_rows: list[int]
    order: list[int] | None
    every: NotRequired[int]


class CodePart(TypedDict):
    """Lines of the engine, in runs of one colour: `[kind, text]`."""

    file: str
    line: int
    spans: list[list[str]]


class Code(TypedDict):
    """The source of a stage, and how it is called."""

    call: list[list[str]]
    parts: list[CodePart]
    says: NotRequired[str]


class Frame(TypedDict):
    """The batch after one stage; `numbers` marks a frame that shows those of a model."""

    name: str
    title: str
    caption: str
    lanes: list[Lane]
    matrices: list[Matrix]
    code: NotRequired[Code]
    numbers: NotRequired[bool]


class PathNode(TypedDict):
    """A position of a stream in a layer, on the path of a leak."""

    stream: str
    position: int
    layer: int


class Leak(TypedDict):
    """Whether an answer can reach its own prediction, and on which path."""

    leak: bool
    level: str
    by_design: list[int]
    sentence: str
    path: list[PathNode]


class Term(TypedDict):
    """A term of the loss as LaTeX and as a tree of MathML, with what its symbols mean."""

    target: str
    latex: str
    mathml: list[Any]
    weight: float
    symbols: dict[str, str]
    signs: dict[str, list[Any]]
    network: str
    reader: str
    positions: list[int]


class Guess(TypedDict):
    """A model's answer at one scored position."""

    position: int
    target: str
    reader: str
    truth: str
    probability: float
    loss: float
    unit: NotRequired[str]
    top: list[list[Any]]


class Numbers(TypedDict):
    """What a model says of the batch; `groups` and `after` only where one update is looked into."""

    model: str
    attention: dict[str, Weights]
    guesses: list[Guess]
    losses: dict[str, float]
    captions: dict[str, str]
    groups: NotRequired[list[dict[str, Any]]]
    after: NotRequired[list[Guess]]


class StageRecord(TypedDict):
    """All frames of one objective on one text. What is not required is left out where there is nothing to say."""

    version: int
    title: str
    subtitle: str
    formula: str
    source: str
    loss: str
    terms: list[Term]
    misprint: dict[str, Any] | None
    signal: dict[str, int]
    meters: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    film: dict[str, Any] | None
    switch: dict[str, Any] | None
    plan: dict[str, Any]
    edits: list[str]
    outcomes: list[str]
    words: list[str]
    word: list[int]
    units: list[str]
    text: list[str]
    leak: Leak
    frames: list[Frame]
    numbers: NotRequired[Numbers]
    painted: NotRequired[dict[str, list[list[int]]]]


Edit = TypedDict(
    "Edit",
    {
        "do": Required[str],
        "number": int,  # a running number, so that none is heard twice
        "word": int,
        "to": Any,
        "from": int,
        "old": str,
        "with": str,
        "acts": bool,
        "matrix": str,
        "cells": list[list[Any]],
        "knob": str,
        "layer": int,
    },
    total=False,
)
Edit.__doc__ = "What a person did by hand: `do` says what, the rest is what that needs (see `edits.DO`)."


def unheard(message: Mapping[str, Any], heard: dict[str, int]) -> Iterator[Mapping[str, Any]]:
    """The edits of a message that were not seen before; `heard` has the last number of every sender."""
    sender = str(message.get("from"))
    for edit in message.get("edits", ()):
        if edit.get("number", 0) > heard.get(sender, 0):
            heard[sender] = edit["number"]
            yield edit
