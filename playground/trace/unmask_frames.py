"""The frames of unmasking: the input after each step, with what the step filled in."""

from collections.abc import Iterable, Mapping
from typing import Any

from playground.analysis.unmasking import Filled
from playground.batch import token_strings
from playground.trace.frames import lanes

WHICH = {"confidence": "those it is surest of", "random": "some at random", "left to right": "the first ones"}


def with_unmasking(record: Mapping[str, Any], steps: Iterable[Filled], rule: str) -> dict[str, Any]:
    """The record of a batch of one row with a frame for each step, over the matrices of its last frame."""
    found = list(steps)
    frames = [
        {
            "name": f"unmask {number}" if number > 1 else "unmask",
            "title": f"Unmask {number}",
            "caption": _caption(step, number, len(found), rule),
            "lanes": lanes(step.batch, 0),
            "matrices": [{**each, **_labels(step)} for each in record["frames"][-1]["matrices"]],
        }
        for number, step in enumerate(found, 1)
    ]
    return {**record, "frames": [*record["frames"], *frames]}


def _labels(step: Filled) -> dict[str, list[str]]:
    """The tokens that attend and are attended to, as the step left them."""
    inputs = step.batch.inputs
    read = token_strings(inputs.ids[0], inputs.valid[0], step.batch.tokens.vocabulary)
    return {"rows": read, "columns": read}


def _caption(step: Filled, number: int, of: int, rule: str) -> str:
    words = step.batch.tokens.vocabulary
    filled = ", ".join(f"{words[token]} ({chance:.0%})" for _, token, chance in step.tokens)
    return f"Step {number} of {of}: the model draws a word for each gap, and {WHICH[rule]} stay: {filled}."
