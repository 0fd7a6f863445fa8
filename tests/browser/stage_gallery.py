"""Records for the stage: those of the engine, and hand-written ones for what it never says."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from playground.trace.rebuild import rebuild

Record = dict[str, Any]
HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "<img src=x onerror=alert(2)>",
    "${alert(3)}",
    "\u2028",
    "'\"",
    "&amp;",
    "日本語",
]


def cell(text: str, key: str, state: str = "kept", **more: Any) -> Record:
    """One token box of a lane."""
    return {
        "text": text,
        "key": key,
        "state": state,
        "chosen": False,
        "scored": False,
        "badge": "",
        "was": "",
        **more,
    }


def lane(name: str, cells: Iterable[Record]) -> Record:
    """A lane with its usual title."""
    titles = {"original": "Original", "inputs": "What the model sees", "decoder": "Decoder input"}
    return {"name": name, "title": titles.get(name, "What it must predict"), "cells": list(cells)}


def matrix(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    state: Callable[[int, int], int],
    scored: Iterable[int] = (),
    **more: Any,
) -> Record:
    """A visibility matrix from a function of (reader, read)."""
    marked = set(scored)
    codes = bytes(state(i, j) for i in range(len(rows)) for j in range(len(columns)))
    return {
        "name": name,
        "title": title,
        "rows": list(rows),
        "columns": list(columns),
        "states": base64.b64encode(codes).decode(),
        "shape": [len(rows), len(columns)],
        "scored_rows": [int(i in marked) for i in range(len(rows))],
        "order": None,
        "weights": None,
        **more,
    }


def frame(name: str, caption: str, lanes: list[Record], matrices: Sequence[Record] = ()) -> Record:
    """A named frame."""
    return {"name": name, "title": name.capitalize(), "caption": caption, "lanes": lanes, "matrices": list(matrices)}


def record(title: str, subtitle: str, source: str, frames: list[Record], **more: Any) -> Record:
    """A whole record with a clean leak verdict unless `more` says otherwise."""
    leak = {"leak": False, "sentence": "No scored answer can reach its own prediction.", "path": []}
    base = {"version": 1, "title": title, "subtitle": subtitle, "formula": "", "source": source, "text": []}
    return {**base, "leak": leak, "frames": frames, **more}


def states() -> Record:
    """Every state of a token and of a cell, with a leak and its path."""
    kinds = "kept masked randomised scored_as_is deleted moved replaced same_by_luck inserted special padding".split()
    shown = [cell(kind.replace("_", " "), f"t{i}", kind) for i, kind in enumerate(kinds)]
    shown[1] = {**shown[1], "was": "before", "chosen": True, "scored": True}
    rows = [item["text"] for item in shown if item["state"] != "deleted"]
    square = matrix(
        "encoder",
        "Who may look at whom",
        rows,
        rows,
        lambda i, j: 3 if max(i, j) == 9 else 2 if i == j else 4 if (i, j) == (3, 5) else int(j <= i + 1),
        (1, 3),
    )
    path = [{"stream": "encoder", "position": p, "layer": n} for n, p in enumerate((5, 6, 3))]
    leak = {
        "leak": True,
        "sentence": "The answer at position 6 reaches its own prediction in two layers.",
        "path": path,
    }
    lanes = [lane("original", [cell(kind, f"t{i}") for i, kind in enumerate(kinds)]), lane("inputs", shown)]
    frames = [
        frame("text", "All the states.", lanes[:1]),
        frame("visibility", "All the states of cells.", lanes, [square]),
    ]
    return record("States", "Every sign of the picture once.", "", frames, leak=leak)


def hostile() -> Record:
    """Text that would like to be markup."""
    words = [cell(text, f"t{i}") for i, text in enumerate(HOSTILE)]
    original, inputs = lane("original", words), lane("inputs", words)
    square = matrix("encoder", "<b>bold</b>", HOSTILE, HOSTILE, lambda i, j: 1)
    frames = [
        frame("text", "</script><script>alert(4)</script>", [original]),
        frame("visibility", "<img src=x onerror=alert(5)>", [original, inputs], [square]),
    ]
    return record("<script>alert(6)</script>", "</title><script>alert(7)</script>", "<i>x</i>", frames)


def folded() -> Record:
    """A word that folds into a sentinel and flies from the inputs to the targets."""
    word, sentinel = cell("happy", "t1"), cell("<0>", "+a", "inserted")
    before = [lane("inputs", [cell("so", "t0"), word])]
    after = [lane("inputs", [cell("so", "t0"), sentinel]), lane("targets", [sentinel, {**word, "scored": True}])]
    return record("Fold", "", "", [frame("text", "", before), frame("fold", "", after)])


def mlm() -> Record:
    """Three masked words with the 80/10/10 outcomes."""
    overrides = {"chosen": [2, 4, 7], "actions": ["keep", "mask", "random"], "replace": ["river"]}
    return rebuild("MLM", overrides=overrides).record()


RECORDS: dict[str, Callable[[], Record]] = {
    "lm": lambda: rebuild("LM").record(),
    "mlm": mlm,
    "plm": lambda: rebuild("PLM", overrides={"order": [5, 2, 7, 1, 4, 8, 3, 6], "cut": 4}).record(),
    "mass": lambda: rebuild("span mask", overrides={"spans": ["4:3"]}).record(),
    "longest": lambda: rebuild("MLM", " ".join(f"word{k}" for k in range(64))).record(),
    "folded": folded,
    "states": states,
    "hostile": hostile,
}
