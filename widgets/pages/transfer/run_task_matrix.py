"""Which of the kept runs suits which task: a table that fills while each is evaluated, and a way to use one of them."""

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from playground.finetuning import tasks
from widgets.pages.layout import FIELD, MAIN, View, button, column, row, unfolding
from widgets.state.run_task_matrix import LABELS, SEEDS, STRATEGY, RunTaskMatrixStore
from widgets.state.train import TrainStore
from widgets.static import run_task_matrix
from widgets.theme import html, say

ABOUT = (
    f"Every run is evaluated on every task, {STRATEGY} with {LABELS} labelled texts and {SEEDS} seeds. 'Alike' is the "
    "share of words that a task and the text of pre-training have in common, 0 to 1 (arXiv:2003.08271, sec. 5.2)."
)


class RunTaskMatrix(View):
    """A button, behind it the runs, the tasks and the table; `use` is called when a run was opened as the base."""

    def __init__(self, matrix: RunTaskMatrixStore, train: TrainStore, use: Callable[[], None] = lambda: None) -> None:
        self.matrix, self.train, self.use, self.drawn = matrix, train, use, None
        self.runs = pmui.MultiChoice.from_param(matrix.param.names, options=[], **FIELD)
        some = pmui.MultiChoice.from_param(matrix.param.tasks, options=list(tasks()), **FIELD)
        look = {"margin": (6, 10), **MAIN}
        self.begin = button("Evaluate every run on every task", matrix.begin, "grid_on", **look)
        self.stop = button("Stop evaluating", matrix.trying.forget, "stop", margin=(6, 3), disabled=True)
        self.best = pmui.Select(label="compare strategies from", options=[], width=260, margin=(6, 10))
        taken = button("Use this run", self._use, "check", margin=(6, 4))
        self.taking = row(self.best, taken, margin=(0, 6), visible=False)
        self.picture, self.trouble = html(""), html("")
        inside = column(
            html(say(ABOUT, "quiet")), self.runs, some, row(self.begin, self.stop), self.trouble,
            self.picture, self.taking, visible=False,
        )  # fmt: skip
        super().__init__(unfolding("Which run suits which task?", "table_chart", inside, self._offer_runs))

    def _use(self) -> None:
        """Open the run on the Train page, as the base from then on."""
        if self.best.value and self.train.open(self.best.value):
            self.use()

    def _offer_runs(self) -> None:
        names = [run.name for run in self.train.kept() if run.out and run.state != "running"]
        self.runs.options = names
        self.matrix.names = [name for name in self.matrix.names if name in names] or names[-4:]
        self.trouble.object = "" if names else say("No run is kept yet; train one first.", "notice")

    def poll(self) -> None:
        matrix, busy = self.matrix, self.matrix.trying.busy
        now = matrix.trying.turn, len(matrix.tried), matrix.trouble
        if now == self.drawn:
            return
        self.drawn = now
        self.begin.disabled, self.stop.disabled = busy, not busy
        self.trouble.object = say(matrix.trouble or matrix.trying.error or "", "trouble")
        found: dict[str, Any] | None = matrix.found
        self.picture.object = run_task_matrix.markup(found, not busy) if found else ""
        self.taking.visible = bool(found) and not busy
        if found is not None and not busy:
            self.best.param.update(options=found["runs"], value=found["runs"][0])
