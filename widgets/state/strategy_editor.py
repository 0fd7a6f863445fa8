"""A strategy that a person makes: composed of parts, its plan painted by hand, with undo and a name."""

from typing import Any

import param
from torch import Tensor

from playground.errors import UserError
from playground.finetuning import PaintedCell, Strategy, find_strategy
from playground.finetuning.strategy.compose import compose
from playground.finetuning.strategy.parse import named
from playground.models import Architecture
from widgets.state.history import History

BRUSHES = {"frozen": 0.0, "× 0.1": 0.1, "× 0.5": 0.5, "× 1": 1.0, "× 2": 2.0}  # multipliers of the rate


class StrategyEditorStore(param.Parameterized):
    """Parts, painted cells and a name; the strategy that they make, or the sentence that says why they make none."""

    parts = param.List(["full"], label="parts")
    cells = param.List([])
    name_given = param.String("", label="name")
    brush = param.Selector(default="frozen", objects=list(BRUSHES))
    shape = param.Parameter(Architecture())
    steps = param.Integer(80)
    made = param.Parameter(None)
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        self.history: History[list[PaintedCell]] = History([])
        super().__init__(**values)
        self.renew()

    @param.depends("parts", "cells", "name_given", "shape", "steps", watch=True)
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
        parts = [find_strategy(name) for name in self.parts]
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
        self._edit([*kept, *fresh])

    def clear(self) -> None:
        """Remove all paint; this can be undone too."""
        if self.cells:
            self._edit([])

    def _edit(self, cells: list[PaintedCell]) -> None:
        self.history.add(cells)
        self.cells = cells

    def go_back(self, by: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        if (cells := self.history.move(by)) is not None:
            self.cells = cells
