"""A strategy as one line of text and back: "my plan = full + L2-SP [embeddings 1-40 x0; encoder layer 2 5-80 x2]"."""

import re
from dataclasses import replace

from playground.errors import UserError
from playground.finetuning.strategy.find import find_strategy, split_outside_brackets
from playground.finetuning.strategy.plasticity import PaintedCell
from playground.finetuning.strategy.strategy import Strategy

CELL = re.compile(r"(?P<group>.+?) +(?P<first>\d+)-(?P<last>\d+) +x(?P<multiplier>[\d.eE+-]+)")
NAME = r"(?:[^=()\[\]]|\([^=()\[\]]*\))*"
PARTS = r"(?:[^=()\[\]]|\([^()\[\]]*\))*"
LINE = re.compile(rf"(?:(?P<name>{NAME})=)?(?P<parts>{PARTS})(?:\[(?P<cells>[^\[\]]*)\])?")
FORBIDDEN = ",+=;[]"


def spell(strategy: Strategy) -> str:
    """The line that `read` understands; a strategy that is not made of the catalogue's has only its name."""
    parts = " + ".join(strategy.parts) or strategy.name
    cells = "; ".join(f"{c.group} {c.first}-{c.last} x{c.multiplier:g}" for c in strategy.painted)
    default = strategy.name in (parts, f"{parts} (painted)")  # as `read` names it too
    own = "" if default else f"{strategy.name} = "
    return f"{own}{parts}{f' [{cells}]' if cells else ''}"


def read(line: str) -> Strategy:
    """A strategy of the catalogue, several joined by "+", cells painted over in brackets, and a name of its own."""
    match = LINE.fullmatch(line.strip())
    if match is None:
        raise UserError(
            f"{line!r} is not a strategy; write it like full + L2-SP [embeddings 1-40 x0; encoder layer 2 5-80 x2]."
        )
    strategy = find_strategy(match["parts"].strip())
    cells = [_cell(text.strip()) for text in (match["cells"] or "").split(";") if text.strip()]
    strategy = strategy.paint(*cells) if cells else strategy
    return named(strategy, match["name"]) if match["name"] is not None else strategy


def named(strategy: Strategy, name: str) -> Strategy:
    """The same strategy with a name of its own, which must fit into a list of names."""
    name = " ".join(name.split())
    if not name or len(name) > 60 or set(name) & set(FORBIDDEN):
        raise UserError(
            f"The name {name!r} cannot be used; it needs 1 to 60 characters, none of them {' '.join(FORBIDDEN)}."
        )
    return replace(strategy, name=name, made_of=strategy.parts)


def split(lines: str) -> list[str]:
    """The strategies of a list with commas, without the empty ones."""
    return [line for line in split_outside_brackets(lines, ",") if line]


def _cell(text: str) -> PaintedCell:
    match = CELL.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        return PaintedCell(match["group"], int(match["first"]), int(match["last"]), float(match["multiplier"]))
    except ValueError as error:
        raise UserError(f"{text!r} is not a painted cell; write it like embeddings 1-40 x0.") from error
