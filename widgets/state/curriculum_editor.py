"""A curriculum that a person paints: which objective is trained in which twentieth of a run, with undo."""

from itertools import groupby

import param
import torch
from torch import Tensor

from playground.objectives import Objective, find_objective, objectives
from widgets.state.history import History

CELLS = 20
"""Parts of a run that are painted, 5 % each."""

PRESETS = {
    "one after the other": (0,) * 10 + (1,) * 10, "most of the first": (0,) * 14 + (1,) * 6,
    "first, second, first": (0,) * 3 + (1,) * 14 + (0,) * 3, "in turn": (0, 0, 1, 1) * 5,
}  # fmt: skip
"""Ways to share a run between the first two objectives; the third is about AntLM's (arXiv:2412.03275)."""


class CurriculumEditorStore(param.Parameterized):
    """The objectives and which of them each twentieth of a run trains, by number."""

    names = param.List(["LM", "MLM"], label="objectives")
    cells = param.List(list(PRESETS["most of the first"]))

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        self.history: History[list[int]] = History(list(self.cells))

    @staticmethod
    def options() -> list[str]:
        """The objectives that a run can take turns with: those that every text serves."""
        return [o.name for o in objectives().values() if not (o.needs or o.parts or o.proposes)]

    @param.depends("names", watch=True)
    def _other_objectives(self) -> None:
        """A cell of an objective that is gone takes the first one."""
        self.cells = [cell if cell < len(self.names) else 0 for cell in self.cells]

    def paint(self, lowest: int, highest: int, first: int, last: int) -> None:
        """Train an objective in some cells: rows counted from the bottom, cells from 1; of several rows the lowest."""
        row = min(max(0, lowest), len(self.names) - 1)
        del highest
        first, last = max(1, first), min(CELLS, last)
        self._edit([row if first <= number <= last else cell for number, cell in enumerate(self.cells, 1)])

    def take(self, preset: str) -> None:
        """One of the presets, for the first two objectives."""
        self._edit([min(cell, len(self.names) - 1) for cell in PRESETS[preset]])

    def go_back(self, by: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        if (cells := self.history.move(by)) is not None:
            self.cells = [min(cell, len(self.names) - 1) for cell in cells]

    def _edit(self, cells: list[int]) -> None:
        if cells != self.cells:
            self.history.add(cells)
            self.cells = cells

    @property
    def shares(self) -> Tensor:
        """The share of each objective in each cell, `[objective, cell]`."""
        return torch.nn.functional.one_hot(torch.tensor(self.cells), len(self.names)).T.float()

    @property
    def line(self) -> str:
        """The curriculum as it is typed; one objective alone by its name."""
        runs = [(cell, len(list(run))) for cell, run in groupby(self.cells)]
        if len(runs) == 1:
            return self.names[runs[0][0]]
        return " then ".join(f"{self.names[cell]} {100 * length / CELLS:g} %" for cell, length in runs)

    @property
    def objective(self) -> Objective:
        return find_objective(self.line)
