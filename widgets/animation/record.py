"""The record of a stage as it travels to the page: formulas as MathML, tokens without what goes without saying."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from latex2mathml.converter import convert
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

Record = Mapping[str, Any]
LEXER = PythonLexer(stripnl=False, ensurenl=False)


def lockstep(records: Sequence[Record]) -> dict[str, Any]:
    """Several records as one, shown side by side under one player; a single one stays as it is."""
    if len(records) < 2:
        return dict(records[0]) if records else {}
    title = " · ".join(str(record.get("title", "")) for record in records)
    return {"version": 1, "title": title, "records": [dict(record) for record in records]}


DEFAULTS = {"state": "kept", "chosen": False, "graded": False, "badge": "", "was": "", "language": 0}
"""What the drawing module fills in for a token that says nothing else; leaving it out halves a record."""


def typeset(record: Record) -> dict[str, Any]:
    """The record as it travels: formulas as MathML beside their LaTeX, and tokens without what goes without saying."""
    made = {**record, "frames": [_lean(frame) for frame in record.get("frames", ())]}
    if "records" in made:
        made["records"] = [typeset(part) for part in made["records"]]
    if "terms" in made:
        made["terms"] = [_typeset_term(term) for term in made["terms"]]
    if made.get("misprint"):
        made["misprint"] = {**made["misprint"], "mathml": _mathml(made["misprint"]["latex"])}
    return made


def _typeset_term(term: Record) -> Record:
    signs = {symbol: _mathml(symbol) for symbol in term.get("symbols", {})}
    return {**term, "mathml": _mathml(term["latex"]), "signs": signs}


def _lean(frame: Record) -> Record:
    lanes = [
        {**lane, "cells": [{k: v for k, v in cell.items() if DEFAULTS.get(k, ...) != v} for cell in lane["cells"]]}
        for lane in frame.get("lanes", ())
    ]
    return {**frame, "lanes": lanes} | ({"code": _coloured(frame["code"])} if "code" in frame else {})


PAINTED = {
    Comment: "note",
    String: "said",
    Keyword: "word",
    Operator.Word: "word",
    Name.Builtin.Pseudo: "word",
    Number: "figure",
    Name.Function: "call",
    Name.Class: "call",
}
"""What is coloured of a source, by kind of token and by the class of its colour."""


@lru_cache(maxsize=1024)  # a call is written anew with every value of a knob
def _spans(text: str) -> list[list[Any]]:
    """Python as runs `[kind, text]`; the kind is empty where nothing is coloured."""
    told = ((next((PAINTED[k] for k in PAINTED if kind in k), ""), said) for kind, said in LEXER.get_tokens(text))
    return [[kind, "".join(said for _, said in run)] for kind, run in groupby(told, key=itemgetter(0))]


def _coloured(code: Record) -> Record:
    """The source of a stage, in runs in place of its text."""
    if not isinstance(code["call"], str):
        return code
    parts = [{"file": part["file"], "line": part["line"], "spans": _spans(part["text"])} for part in code["parts"]]
    return {**code, "call": _spans(code["call"]), "parts": parts}


@cache
def _mathml(latex: str) -> str:
    return convert(latex)
