"""See: a mask that a person painted on the stage, carried over to every text."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.example import Example, Stream, Visible
from playground.refusal import Refusal

CELLS = re.compile(
    r"(?:part (\d{1,2}) )?(encoder|content|query|decoder|cross)((?: opens(?: [+-]\d{1,3})+| closes(?: [+-]\d{1,3})+)+)"
)


@dataclass(frozen=True)
class Painted:
    """What was painted in one matrix: how many places to the right (to the left: negative) readers look or do not.

    `part` is the part of a mixture that it was painted in, from 1; 0 for all that an objective has.
    """

    matrix: str
    opens: tuple[int, ...] = ()
    closes: tuple[int, ...] = ()
    part: int = 0

    def __str__(self) -> str:
        said = {"opens": self.opens, "closes": self.closes}
        parts = (f"{verb} {' '.join(f'{d:+d}' for d in some)}" for verb, some in said.items() if some)
        return " ".join([*([f"part {self.part}"] if self.part else []), self.matrix, *parts])

    @property
    def words(self) -> str:
        """The same for a person."""
        said = {"every place also looks": self.opens, "no place looks": self.closes}
        places = [*([f"part {self.part}"] if self.part else []), *([self.matrix] if self.matrix != "encoder" else [])]
        where = f"{', '.join(places)}: " if places else ""
        return where + ", ".join(f"{who} {_places(some)}" for who, some in said.items() if some)


def _places(distances: Iterable[int]) -> str:
    sides = {1: "to the right", -1: "to the left"}
    said = [f"{abs(d)} {sides[d // abs(d)]}" if d else "at itself" for d in distances]
    return " and ".join(said)


def carried(cells: Mapping[str, Iterable[tuple[int, int, bool]]], part: int = 0) -> tuple[Painted, ...]:
    """Painted cells (reader, read, open) of one text as a rule for all: by how far the reader looks, open wins.

    `part` is the part of a mixture that was on screen, from 1.
    """
    made = []
    for matrix, some in cells.items():
        opens = {read - reader for reader, read, is_open in some if is_open}
        closes = {read - reader for reader, read, is_open in some if not is_open} - opens
        made.append(Painted(matrix, tuple(sorted(opens)), tuple(sorted(closes)), part))
    return tuple(made)


def written(painted: Iterable[Painted]) -> str:
    """The rule as it stands in the name of an objective, such as "encoder opens +1 closes -2"."""
    return ", ".join(map(str, painted))


def read(said: str) -> tuple[Painted, ...]:
    """The rule that a name holds."""
    made = []
    for part in said.split(", "):
        found = CELLS.fullmatch(part.strip())
        if found is None:
            raise Refusal(f'A painted mask is {part!r}; write it like "encoder opens +1 +2 closes -1".')
        places = {verb: re.findall(rf"{verb}((?: [+-]\d+)+)", found[3]) for verb in ("opens", "closes")}
        opens, closes = (tuple(map(int, " ".join(some).split())) for some in places.values())
        made.append(Painted(found[2], opens, closes, int(found[1] or 0)))
    return tuple(made)


def meant_for(rules: Iterable[Painted], part: int) -> tuple[Painted, ...]:
    """The rules that a part of a mixture obeys: its own, and those that name no part."""
    return tuple(replace(rule, part=0) for rule in rules if rule.part in (0, part))


@dataclass(frozen=True)
class SeePainted:
    """What the objective sees, with cells opened and closed by hand in every text, as many places away as painted."""

    painted: tuple[Painted, ...]

    def build(self, example: Example) -> Example:
        for each in self.painted:
            example = _repaint(example, each)
        return example


def _repaint(example: Example, rule: Painted) -> Example:
    inputs, decoder = example.inputs, example.decoder
    streams = {
        "query": (inputs, inputs, "query_visible"),
        "decoder": (decoder, decoder, "visible"),
        "cross": (decoder, inputs, "cross"),
    }
    readers, others, field = streams.get(rule.matrix, (inputs, inputs, "visible"))
    seen = getattr(readers, field, None)
    if readers is None or others is None or seen is None:
        raise Refusal(f"This objective has no matrix {rule.matrix!r}, so nothing can be painted in it.")
    made = replace(readers, **{field: in_cells(_cells(seen, rule, readers, others), seen.above)})
    return replace(example, inputs=made) if readers is inputs else replace(example, decoder=made)


def _cells(seen: Visible, rule: Painted, readers: Stream, read: Stream) -> Tensor:
    n, m = readers.ids.shape[1], read.ids.shape[1]
    away = torch.arange(m)[None, :] - torch.arange(n)[:, None]
    opens, closes = (torch.isin(away, torch.tensor(some)).to(read.ids.device) for some in (rule.opens, rule.closes))
    real = readers.real[:, :, None] & read.real[:, None, :]
    return (seen.dense() & ~closes) | (opens & real)


def in_cells(cells: Tensor, above: Visible | None = None) -> Visible:
    """Who sees whom as the cells `[b, n, m]` say, and nothing else."""
    rows, n, m = cells.shape
    zeros = torch.zeros((rows, max(n, m)), dtype=torch.long, device=cells.device)
    return Visible(zeros[:, :n], zeros[:, :m], painted=cells, above=above)
