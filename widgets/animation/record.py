"""The record of a stage as it travels to the page: formulas as trees of MathML, tokens without their defaults."""

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

Record = Mapping[str, Any]
LEXER = PythonLexer(stripnl=False, ensurenl=False)


DEFAULTS = {"state": "kept", "chosen": False, "scored": False, "badge": "", "was": ""}
"""What the drawing module fills in for a token; leaving it out halves a record."""


def typeset(record: Record) -> dict[str, Any]:
    """The record as it travels: formulas as MathML beside their LaTeX, and tokens without their defaults."""
    made = {**record, "frames": [_lean(frame) for frame in record.get("frames", ())]}
    if "records" in made:
        made["records"] = [typeset(part) for part in made["records"]]
    if "terms" in made:
        made["terms"] = [
            {
                **term,
                "mathml": _mathml(term["latex"]),
                "signs": {sign: _mathml(sign) for sign in term.get("symbols", {})},
            }
            for term in made["terms"]
        ]
    if made.get("misprint"):
        made["misprint"] = {**made["misprint"], "mathml": _mathml(made["misprint"]["latex"])}
    return made


def _lean(frame: Record) -> Record:
    lanes = [
        {**lane, "cells": [{k: v for k, v in cell.items() if DEFAULTS.get(k, ...) != v} for cell in lane["cells"]]}
        for lane in frame.get("lanes", ())
    ]
    return {**frame, "lanes": lanes} | ({"code": _coloured(frame["code"])} if "code" in frame else {})


PAINTED = {
    Comment: "note",
    String: "said",
    Number: "figure",
    Name.Function: "call",
    Name.Class: "call",
} | dict.fromkeys((Keyword, Operator.Word, Name.Builtin.Pseudo), "word")
"""What is coloured of a source, by kind of token and by the class of its colour."""


@lru_cache(maxsize=1024)  # a call is written anew with every value of a knob
def _spans(text: str) -> list[list[Any]]:
    """Python as runs `[kind, text]`; the kind is empty where nothing is coloured."""
    tokens = ((next((PAINTED[k] for k in PAINTED if kind in k), ""), part) for kind, part in LEXER.get_tokens(text))
    return [[kind, "".join(part for _, part in run)] for kind, run in groupby(tokens, key=itemgetter(0))]


def _coloured(code: Record) -> Record:
    """The source of a stage, in runs in place of its text."""
    if not isinstance(code["call"], str):
        return code
    parts = [{"file": part["file"], "line": part["line"], "spans": _spans(part["text"])} for part in code["parts"]]
    return {**code, "call": _spans(code["call"]), "parts": parts}


@cache
def _mathml(latex: str) -> list[Any]:
    """A formula as an element of MathML: its tag, its attributes, its text or its elements."""
    return _tree(ElementTree.fromstring(convert(latex)))


def _tree(element: ElementTree.Element) -> list[Any]:
    text = [element.text] if element.text else []
    return [element.tag.rpartition("}")[2], dict(element.attrib), *text, *map(_tree, element)]
