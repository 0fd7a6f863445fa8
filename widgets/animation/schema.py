"""What travels between the engine and the drawing: the record of a stage, and the edits that come back."""

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, Required, TypedDict

from playground.trace import json_schema
from playground.trace.json_schema import (
    Editable,
    Ids,
    Leak,
    LeftOut,
    MaskHistory,
    Meter,
    Numbers,
    Signal,
    Switch,
)


class Cell(TypedDict):
    """A token of a lane; what is left out is as in `record.DEFAULTS`."""

    text: str
    key: str
    state: NotRequired[str]
    chosen: NotRequired[bool]
    scored: NotRequired[bool]
    badge: NotRequired[str]
    was: NotRequired[str]


class Lane(TypedDict):
    """A row of tokens: the text, the input, the decoder's input or the targets."""

    name: str
    title: str
    cells: list[Cell]
    ids: NotRequired[list[Ids]]
    target: NotRequired[str]


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


class Frame(json_schema.FrameWithoutLanes):
    """A frame as it travels."""

    lanes: list[Lane]
    code: NotRequired[Code]


class Term(json_schema.Term):
    """A term of the loss as LaTeX and as a tree of MathML; `signs` are the trees of its symbols."""

    mathml: list[Any]
    signs: dict[str, list[Any]]


class Misprint(json_schema.Misprint):
    """What a source prints where it errs, as a tree of MathML too."""

    mathml: list[Any]


class StageRecord(Editable):
    """All frames of one objective on one text. What is not required is left out where there is nothing to say."""

    version: int
    title: str
    subtitle: str
    formula: str
    source: str
    loss: str
    terms: list[Term]
    misprint: Misprint | None
    signal: Signal
    meters: list[Meter]
    left_out: list[LeftOut]
    film: MaskHistory | None
    switch: Switch | None
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
