"""Paint a curriculum: drag over the map of objectives and steps, and train what is painted."""

from typing import Any

import panel_material_ui as pmui

from playground.errors import UserError
from widgets.charts.plasticity import paintable
from widgets.pages.layout import FIELD, STRETCH, View, button, column, plot, row
from widgets.state.curriculum_editor import PRESETS, CurriculumEditorStore
from widgets.state.train.store import TrainStore
from widgets.theme import html, say

ABOUT = "Drag over the map or click a cell: the run trains that objective there. Each cell is 5 % of the steps."


class CurriculumEditor(View):
    """The objectives of a run, and a map of when each is trained."""

    def __init__(self, draft: CurriculumEditorStore, train: TrainStore) -> None:
        self.draft, self.train, self.line = draft, train, html("")
        self.chart = paintable(lambda region: draft.paint(*region))
        self.chart.figure.height = 170
        self.chart.figure.xaxis[0].axis_label = "twentieths of the run"
        chosen = pmui.MultiChoice.from_param(draft.param.names, options=draft.options(), max_items=4, **FIELD)
        preset = pmui.Select(label="preset", options=["", *PRESETS], value="", **FIELD)
        preset.param.watch(lambda event: draft.take(event.new) if event.new else None, "value")
        self.use = button("Use this curriculum", self._use, "check", margin=(6, 4))
        self.undo = button("Undo", lambda: draft.go_back(-1), "undo", margin=(6, 4))
        self.redo = button("Redo", lambda: draft.go_back(1), "redo", margin=(6, 4))
        inside = column(
            html(say(ABOUT, "quiet")), chosen, preset, plot(self.chart), self.line,
            row(self.use, self.undo, self.redo, **STRETCH),
        )  # fmt: skip
        draft.param.watch(self._show, ["names", "cells"])
        self._show()
        super().__init__(inside)

    def _use(self) -> None:
        try:
            self.train.entry = self.draft.objective.name
        except UserError as refusal:
            self.train.trouble = str(refusal)

    def _show(self, *_: Any) -> None:
        draft = self.draft
        self.undo.disabled, self.redo.disabled = not draft.history.can["undo"], not draft.history.can["redo"]
        self.use.disabled = not draft.names
        if draft.names:
            self.line.object = say(draft.line)
            self.chart.show(tuple(draft.names), draft.shares)
