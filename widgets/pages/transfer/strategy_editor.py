"""Make a strategy: compose parts, turn their knobs, paint its plan by mouse or keyboard, name it, compare it."""

from typing import Any

import panel_material_ui as pmui

from playground.finetuning import strategies
from playground.finetuning.strategy.compose import difference
from playground.finetuning.strategy.parse import spell
from widgets.charts.plasticity import paintable
from widgets.pages.knobs import Knobs
from widgets.pages.layout import FIELD, MAIN, STRETCH, View, button, column, plot, row
from widgets.state.strategy_editor import StrategyEditorStore
from widgets.state.transfer.store import TransferStore
from widgets.theme import html, say

ABOUT = (
    "Choose parts and turn their knobs: their plans are multiplied, their penalties added, their modules joined. Then "
    "paint: drag over the map or click a cell, or say rows and steps below. What is drawn is what the optimiser uses."
)


class StrategyEditor(View):
    """The parts of a strategy and its plan, which can be painted."""

    def __init__(self, draft: StrategyEditorStore, transfer: TransferStore) -> None:
        self.draft, self.chart = draft, paintable(lambda region: draft.paint(*region))
        self.chart.figure.height = 220
        self.spec, self.line = html(""), html("")
        parts = pmui.MultiChoice.from_param(draft.param.parts, options=list(strategies()), **FIELD)
        fit = {"max_width": 420, **STRETCH}  # a fixed width would be the least width of the page
        brush = pmui.RadioButtonGroup.from_param(draft.param.brush, label="", size="small", margin=(6, 10), **fit)
        name = pmui.TextInput.from_param(draft.param.name_given, placeholder="my plan", width=220, margin=(6, 10))
        self.add = button("Add to the comparison", lambda: transfer.keep(draft.made), "add", margin=(6, 4), **MAIN)
        self.undo = button("Undo", lambda: draft.go_back(-1), "undo", margin=(6, 4))
        self.redo = button("Redo", lambda: draft.go_back(1), "redo", margin=(6, 4))
        self.clear = button("Clear edits", draft.clear, "format_color_reset", margin=(6, 4))
        look = {"options": list(draft.groups), "value": draft.groups[0], "width": 170, "margin": (6, 10)}
        self.rows = pmui.Select(label="from layer group", **look), pmui.Select(label="up to", **look)
        self.steps = pmui.IntRangeSlider(label="steps", start=1, end=draft.steps, value=(1, draft.steps), width=230)
        paint = button("Paint", self._paint, "brush", margin=(6, 10))
        knobs = Knobs(
            draft, ["parts", "turned"], lambda: draft.knobs, lambda: draft.values, draft.turn,
            throttled=True, beside=True,
        )  # fmt: skip
        inside = column(
            html(say(ABOUT, "quiet")), parts, knobs.layout,
            html('<div class="label">paint with</div>', margin=(0, 10)), brush,
            plot(self.chart), row(*self.rows, self.steps, paint), self.spec, self.line,
            row(name, self.add, self.undo, self.redo, self.clear),
        )  # fmt: skip
        draft.param.watch(self._show, ["made", "trouble"])
        transfer.param.watch(
            lambda *_: draft.param.update(steps=transfer.steps, shape=transfer.shape), ["steps", "shape"]
        )
        self._show()
        super().__init__(inside)

    def _paint(self) -> None:
        """The same as dragging, with three fields and a button."""
        lowest, highest = (self.draft.groups.index(select.value) for select in self.rows)
        self.draft.paint(lowest, highest, *self.steps.value)

    def _show(self, *_: Any) -> None:
        draft, can = self.draft, self.draft.history.can
        self.spec.object = say(draft.trouble, "trouble") or say(f"Spec: {spell(draft.made)}", "quiet")
        self.line.object = say(difference(strategies()["full"], draft.made), "quiet")
        self.chart.show(draft.groups, draft.plan)
        self.undo.disabled, self.redo.disabled = not can["undo"], not can["redo"]
        self.clear.disabled, self.add.disabled = not draft.edited, bool(draft.trouble)
        groups = list(draft.groups)
        for select in self.rows if self.rows[0].options != groups else ():
            select.param.update(options=groups, value=groups[0])
        if self.steps.end != draft.steps:
            self.steps.param.update(end=draft.steps, value=(1, draft.steps))
