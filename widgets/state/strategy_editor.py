"""A strategy that a person makes: parts with their knobs, a plan painted by hand, undo and a name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import param
from torch import Tensor

from playground.errors import UserError
from playground.finetuning import PaintedCell, Strategy, find_strategy
from playground.finetuning.strategy.compose import compose
from playground.finetuning.strategy.find import knobs_of, with_knobs
from playground.finetuning.strategy.parse import named
from playground.knob import Knob
from playground.models import Architecture
from widgets.state.history import History

BRUSHES = {"frozen": 0.0, "× 0.1": 0.1, "× 0.5": 0.5, "× 1": 1.0, "× 2": 2.0}  # multipliers of the rate


Turned = Mapping[str, Mapping[str, Any]]
"""The knobs that were turned, by the part that has them."""


class StrategyEditorStore(param.Parameterized):
    """Parts, their knobs, painted cells and a name; the strategy that they make, or why they make none."""

    parts = param.List(["full"], label="parts")
    turned = param.Dict({}, doc="The knobs that were turned, by part.")
    cells = param.List([])
    name_given = param.String("", label="name")
    brush = param.Selector(default="frozen", objects=list(BRUSHES))
    shape = param.Parameter(Architecture())
    steps = param.Integer(80)
    made = param.Parameter(None)
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        self.history: History[tuple[Turned, list[PaintedCell]]] = History(({}, []))
        super().__init__(**values)
        self.renew()

    @param.depends("parts", "turned", "cells", "name_given", "shape", "steps", watch=True)
    def renew(self) -> None:
        """Make the strategy again; what does not go together is a sentence, and the last good one stays."""
        try:
            made = self._make()
            made.plan(made.rows(self.shape), self.steps)
        except UserError as refusal:
            self.trouble = str(refusal)
            return
        self.param.update(made=made, trouble="")

    def _make(self) -> Strategy:
        if not self.parts:
            raise UserError("No part is chosen; choose at least one, for example full.")
        parts = [
            with_knobs(find_strategy(name), knobs) if (knobs := self.turned.get(name)) else find_strategy(name)
            for name in self.parts
        ]
        made = parts[0] if len(parts) == 1 else compose(*parts)
        made = made.paint(*self.cells) if self.cells else made
        return named(made, self.name_given) if self.name_given.strip() else made

    @property
    def groups(self) -> tuple[str, ...]:
        """The rows of the plan, lowest first."""
        return self.made.rows(self.shape)

    @property
    def plan(self) -> Tensor:
        """What the optimiser would use, as multipliers `[g, s]`."""
        return self.made.plan(self.groups, self.steps)

    def paint(self, lowest: int, highest: int, first: int, last: int) -> None:
        """Paint a region with the brush: rows counted from the bottom, steps from 1, all ends included."""
        lowest, highest = max(0, min(lowest, highest)), min(len(self.groups) - 1, max(lowest, highest))
        first, last = max(1, min(first, last)), min(self.steps, max(first, last))
        if lowest > highest or first > last:
            return
        value = BRUSHES[self.brush]
        fresh = [PaintedCell(self.groups[k], first, last, value) for k in range(lowest, highest + 1)]
        hidden = {c.group for c in fresh}
        kept = [c for c in self.cells if not (c.group in hidden and first <= c.first and c.last <= last)]
        self._edit(self.turned, [*kept, *fresh])

    @property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of all parts; of several parts each has the name of its part in front."""
        return {key: replace(knobs_of(find_strategy(part))[name], name=key) for key, (part, name) in self._keys.items()}

    @property
    def values(self) -> dict[str, Any]:
        """The knobs that were turned, by the same names."""
        turned = {key: (self.turned.get(part, {}), name) for key, (part, name) in self._keys.items()}
        return {key: knobs[name] for key, (knobs, name) in turned.items() if name in knobs}

    @property
    def _keys(self) -> dict[str, tuple[str, str]]:
        """The part and the name of every knob by what it is called here."""
        return {
            name if len(self.parts) == 1 else f"{part}: {name}": (part, name)
            for part in self.parts
            for name in knobs_of(find_strategy(part))
        }

    def turn(self, key: str, value: Any) -> None:
        """Turn a knob of a part; at its own value it is as if it was never turned."""
        part, name = self._keys[key]
        values = {**self.turned.get(part, {}), name: value}
        kept = {k: v for k, v in values.items() if v != knobs_of(find_strategy(part))[k].default}
        others = {each: knobs for each, knobs in self.turned.items() if each != part}
        self._edit(others | ({part: kept} if kept else {}), self.cells)

    def clear(self) -> None:
        """Remove all paint and turn all knobs back; this can be undone too."""
        if self.edited:
            self._edit({}, [])

    @property
    def edited(self) -> bool:
        """Whether there is paint or a knob that was turned."""
        return bool(self.cells or self.values)

    def _edit(self, turned: Turned, cells: list[PaintedCell]) -> None:
        self.history.add((turned, cells))
        self.param.update(turned=turned, cells=cells)

    def go_back(self, by: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        if (edits := self.history.move(by)) is not None:
            self.param.update(turned=edits[0], cells=edits[1])
