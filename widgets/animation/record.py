"""The record of a stage as it travels to the page: formulas as MathML, tokens without what goes without saying."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from latex2mathml.converter import convert

Record = Mapping[str, Any]


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
    return {**frame, "lanes": lanes}


@cache
def _mathml(latex: str) -> str:
    return convert(latex)
