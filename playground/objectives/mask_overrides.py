"""What was painted or put in order by hand as a rule for every text, as it stands in the name of an objective."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from playground.errors import UserError
from playground.objectives.ask.judged import GRADED, Judged
from playground.objectives.choose.order import FixedOrder
from playground.objectives.see.painted import Painted

Rule = Painted | Judged | FixedOrder

MATRICES = ("encoder", "content", "query", "decoder", "cross")

CELLS = re.compile(
    rf"(?:part (\d{{1,2}}) )?({'|'.join(MATRICES)})((?: opens(?: [+-]\d{{1,3}})+| closes(?: [+-]\d{{1,3}})+)+)"
)
RUN = r"[1-9]\d{0,2}(?:-[1-9]\d{0,2})?"
ORDER = re.compile(r"order((?: \d{1,3})+)")
ANSWERS = re.compile(rf"(?:part (\d{{1,2}}) )?answers((?: count(?: {RUN})+| skip(?: {RUN})+)+)")


Cell = tuple[int, int, bool]
"""A cell set by hand: the position that reads, the one that is read, both from 0, and whether it is open."""


def written_cells(cells: Iterable[Cell]) -> str:
    """Cells as `1.2+` (open) and `3.1-` (closed), the reading position first, both counted from 1."""
    return ",".join(f"{i + 1}.{j + 1}{'+' if is_open else '-'}" for i, j, is_open in cells)


def read_cells(text: str) -> list[Cell]:
    """The cells of such a line; a plus sign may arrive as a space, as in a link."""
    cells = re.findall(r"(\d{1,4})\.(\d{1,4})([ +-])", text)
    return [(int(i) - 1, int(j) - 1, sign != "-") for i, j, sign in cells]


def carried(cells: Mapping[str, Iterable[Cell]], part: int = 0) -> tuple[Rule, ...]:
    """What was painted on one text as rules for all: cells by how far the reader looks (open wins), answers by place.

    `cells` holds reader, read and whether it is open by matrix; `part` is the part of a mixture that was on screen,
    from 1.
    """
    made: list[Rule] = []
    for matrix, some in cells.items():
        if matrix == GRADED:
            places = {counts: tuple(sorted(at + 1 for _, at, c in some if c == counts)) for counts in (True, False)}
            made.append(Judged(places[True], places[False], part))
            continue
        opens = {read - reader for reader, read, is_open in some if is_open}
        closes = {read - reader for reader, read, is_open in some if not is_open} - opens
        made.append(Painted(matrix, tuple(sorted(opens)), tuple(sorted(closes)), part))
    return tuple(made)


def written(rules: Iterable[Rule]) -> str:
    """The rules as they stand in the name of an objective, such as "encoder opens +1 closes -2, answers skip 3"."""
    return ", ".join(map(str, rules))


def read(line: str) -> tuple[Rule, ...]:
    """The rules that a name holds."""
    return tuple(_rule(part.strip()) for part in line.split(", "))


def _rule(line: str) -> Rule:
    if found := CELLS.fullmatch(line):
        opens, closes = (tuple(map(int, _after(verb, found[3]))) for verb in ("opens", "closes"))
        return Painted(found[2], opens, closes, int(found[1] or 0))
    if found := ANSWERS.fullmatch(line):
        counts, skips = (_places(_after(verb, found[2])) for verb in ("count", "skip"))
        return Judged(counts, tuple(place for place in skips if place not in counts), int(found[1] or 0))
    if found := ORDER.fullmatch(line):
        return FixedOrder(tuple(map(int, found[1].split())))
    raise UserError(
        f'What is painted by hand is {line!r}; write it like "encoder opens +1 +2 closes -1", and which answers count '
        f'like "answers count 2 skip 5-7"; an order is written like "order 3 1 2".'
    )


def _after(verb: str, line: str) -> Sequence[str]:
    """What stands behind a verb, up to the next one."""
    return " ".join(re.findall(rf"\b{verb}((?: [+-]?\d[\d-]*)+)", line)).split()


def _places(ranges: Iterable[str]) -> tuple[int, ...]:
    """Places out of ranges such as 4 and 6-8."""
    ends = ([int(end) for end in one.split("-")] for one in ranges)
    return tuple(sorted({place for each in ends for place in range(each[0], each[-1] + 1)}))


def meant_for(rules: Iterable[Rule], part: int) -> tuple[Rule, ...]:
    """The rules that a part of a mixture obeys: its own, and those that name no part."""
    return tuple(replace(rule, part=0) for rule in rules if rule.part in (0, part))
