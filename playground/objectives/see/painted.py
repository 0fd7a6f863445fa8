"""See: a mask that a person painted on the stage, carried over to every text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import AttentionMask, Batch, Stream
from playground.errors import Refusal
from playground.objectives.stage import See


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


@dataclass(frozen=True)
class OverrideMask(See):
    """What the objective sees, with cells opened and closed by hand in every text, as many places away as painted."""

    painted: tuple[Painted, ...]

    def build(self, example: Batch) -> Batch:
        for each in self.painted:
            example = _repaint(example, each)
        return example


def _repaint(example: Batch, rule: Painted) -> Batch:
    inputs, decoder = example.inputs, example.decoder
    streams = {
        "query": (inputs, inputs, "query_attn_mask"),
        "decoder": (decoder, decoder, "attn_mask"),
        "cross": (decoder, inputs, "cross_attn_mask"),
    }
    readers, others, field = streams.get(rule.matrix, (inputs, inputs, "attn_mask"))
    seen = getattr(readers, field, None)
    if readers is None or others is None or seen is None:
        raise Refusal(f"This objective has no matrix {rule.matrix!r}, so nothing can be painted in it.")
    made = replace(readers, **{field: in_cells(_cells(seen, rule, readers, others), seen.odd_layers)})
    return replace(example, inputs=made) if readers is inputs else replace(example, decoder=made)


def _cells(seen: AttentionMask, rule: Painted, readers: Stream, read: Stream) -> Tensor:
    n, m = readers.ids.shape[1], read.ids.shape[1]
    away = torch.arange(m)[None, :] - torch.arange(n)[:, None]
    opens, closes = (torch.isin(away, torch.tensor(some)).to(read.ids.device) for some in (rule.opens, rule.closes))
    real = readers.valid[:, :, None] & read.valid[:, None, :]
    return (seen.dense() & ~closes) | (opens & real)


def in_cells(cells: Tensor, above: AttentionMask | None = None) -> AttentionMask:
    """Who sees whom as the cells `[b, n, m]` say, and nothing else."""
    rows, n, m = cells.shape
    zeros = torch.zeros((rows, max(n, m)), dtype=torch.long, device=cells.device)
    return AttentionMask(zeros[:, :n], zeros[:, :m], overrides=cells, odd_layers=above)
