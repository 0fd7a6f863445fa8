"""What a person set by hand on one text, as rules for every text: attention masks, the loss mask, an order.

Rules are values: a run, its checkpoint and its record carry them as JSON under `mask_overrides`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from playground.errors import UserError
from playground.objectives.ask.loss_mask import SCORED, LossMaskOverride
from playground.objectives.choose.order import LAST, OrderOverride
from playground.objectives.see.painted import AttentionMaskOverride
from playground.parsing import Form, has_form

MaskOverride = AttentionMaskOverride | LossMaskOverride | OrderOverride

MATRICES = ("encoder", "content", "query", "decoder", "cross")

CALLED: Mapping[type[MaskOverride], str] = {
    AttentionMaskOverride: "a mask",
    LossMaskOverride: "answers",
    OrderOverride: "an order",
}
"""What a person may set by hand, and what it is called."""

FORMS: Mapping[type[MaskOverride], dict[str, Form]] = {
    AttentionMaskOverride: {"kind": str, "matrix": str, "opens?": [int], "closes?": [int], "part?": int},
    LossMaskOverride: {"kind": str, "counts?": [int], "skips?": [int], "part?": int},
    OrderOverride: {"kind": str, "positions": [int], "part?": int},
}
"""The JSON of each rule; `kind` says which one it is."""

EXAMPLE = '[{"kind": "attention_mask", "matrix": "encoder", "opens": [1], "closes": [-1]}]'

Cell = tuple[int, int, bool]
"""A cell set by hand: the position that reads, the one that is read, both from 0, and whether it is open."""


def written_cells(cells: Iterable[Cell]) -> str:
    """Cells as `1.2+` (open) and `3.1-` (closed), the reading position first, both counted from 1."""
    return ",".join(f"{i + 1}.{j + 1}{'+' if is_open else '-'}" for i, j, is_open in cells)


def read_cells(text: str) -> list[Cell]:
    """The cells of such a line; a plus sign may arrive as a space, as in a link."""
    cells = re.findall(r"(\d{1,4})\.(\d{1,4})([ +-])", text)
    return [(int(i) - 1, int(j) - 1, sign != "-") for i, j, sign in cells]


def carried(cells: Mapping[str, Iterable[Cell]], part: int = 0) -> tuple[MaskOverride, ...]:
    """What was painted on one text as rules for all: cells by distance (open wins), answers by position.

    `cells` holds reader, read and whether it is open by matrix; `part` is the part of a mixture that was on screen,
    from 1.
    """
    made: list[MaskOverride] = []
    for matrix, some in cells.items():
        if matrix == SCORED:
            positions = {counts: tuple(sorted(at + 1 for _, at, c in some if c == counts)) for counts in (True, False)}
            made.append(LossMaskOverride(positions[True], positions[False], part))
            continue
        opens = {read - reader for reader, read, is_open in some if is_open}
        closes = {read - reader for reader, read, is_open in some if not is_open} - opens
        made.append(AttentionMaskOverride(matrix, tuple(sorted(opens)), tuple(sorted(closes)), part))
    return tuple(made)


def describe(rules: Sequence[MaskOverride]) -> str:
    """The rules for a person, a sentence for each kind; empty where there is none."""
    kinds = {kind: [rule.words for rule in rules if isinstance(rule, kind)] for kind in CALLED}
    return " ".join(f"With {CALLED[kind]} by hand: {'; '.join(words)}." for kind, words in kinds.items() if words)


def describe_kinds(rules: Iterable[MaskOverride]) -> str:
    """What was set by hand, such as "with a mask and answers by hand"; empty where nothing was."""
    kinds = dict.fromkeys(CALLED[type(rule)] for rule in rules)
    return f"with {' and '.join(kinds)} by hand" if kinds else ""


def to_json(rules: Iterable[MaskOverride]) -> list[dict[str, Any]]:
    """The rules as values of JSON."""
    return [{"kind": rule.kind} | {name: _plain(value) for name, value in vars(rule).items()} for rule in rules]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def from_json(value: Any) -> tuple[MaskOverride, ...]:
    """The rules that a value of JSON holds; whatever is wrong with one is refused."""
    if not has_form(value, [{"kind": str}]):
        raise UserError(f"The mask overrides are {value!r}; write a list such as {EXAMPLE}.")
    return tuple(map(_rule, value))


def _rule(value: Mapping[str, Any]) -> MaskOverride:
    kind = next((kind for kind in FORMS if kind.kind == value["kind"]), None)
    if kind is None:
        kinds = ", ".join(each.kind for each in FORMS)
        raise UserError(f"A mask override is of the kind {value['kind']!r}; the kinds are {kinds}.")
    if has_form(value, FORMS[kind]) and not value.keys() - {"kind", *(field.name for field in fields(kind))}:
        given: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in value.items() if name != "kind"
        }
        if _sound(kind, given):
            return kind(**{name: v for name, v in given.items() if v is not None})
    names = ", ".join(name.removesuffix("?") for name in FORMS[kind] if name != "kind")
    raise UserError(
        f"A mask override is {dict(value)!r}; the kind {kind.kind} has {names}, as in {EXAMPLE}. The matrices are "
        f"{', '.join(MATRICES)}, and positions and parts are counted from 1, up to {LAST}."
    )


def _sound(kind: type[MaskOverride], given: Mapping[str, Any]) -> bool:
    """Whether a rule says something, of positions, distances and a part that there may be."""
    numbers = [number for value in given.values() if isinstance(value, tuple) for number in value]
    low = -LAST if kind is AttentionMaskOverride else 1
    in_range = all(low <= number <= LAST for number in numbers) and 0 <= (given.get("part") or 0) <= LAST
    return bool(numbers) and in_range and given.get("matrix", MATRICES[0]) in MATRICES


def meant_for(rules: Iterable[MaskOverride], part: int) -> tuple[MaskOverride, ...]:
    """The rules that a part of a mixture obeys: its own, and those that name no part."""
    return tuple(replace(rule, part=0) for rule in rules if rule.part in (0, part))
