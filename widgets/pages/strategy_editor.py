"""Make a strategy: put parts together, paint its plan with the mouse or the keyboard, name it, compare it."""

from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.finetuning import strategies
from playground.finetuning.strategy.compose import difference
from playground.finetuning.strategy.parse import spell
from widgets.charts.plasticity import paintable
from widgets.pages.layout import bind
from widgets.state.strategy_editor import BRUSHES, DraftStore
from widgets.state.transfer import TransferStore
from widgets.theme import html, say

WORDS = (
    "Choose parts: their plans are multiplied, their penalties added, their modules joined. Then paint: drag over the "
    "map or click a cell, or say rows and steps below. What is drawn is what the optimiser uses."
)


def editor(draft: DraftStore, transfer: TransferStore) -> pmui.Column:
    """A button, and behind it the place where a strategy is made."""
    opened = pmui.Toggle(label="Make a strategy of your own", icon="brush", value=False, margin=(10, 10))
    inside = _inside(draft, transfer)
    opened.param.watch(lambda event: inside.param.update(visible=event.new), "value")
    return pmui.Column(opened, inside, sizing_mode="stretch_width", margin=0)


def _inside(draft: DraftStore, transfer: TransferStore) -> pmui.Column:
    chart = paintable(lambda region: draft.paint(*region))
    chart.figure.height = 220
    told, line = html(""), html("")
    parts = pmui.MultiChoice(
        label="parts", options=list(strategies()), value=draft.parts, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(parts, draft, "parts")
    fit = {"max_width": 420, "sizing_mode": "stretch_width"}  # a fixed width would be the least width of the page
    brush = pmui.RadioButtonGroup(options=list(BRUSHES), value=draft.brush, size="small", margin=(6, 10), **fit)
    bind(brush, draft, "brush")
    name = pmui.TextInput(label="name", value=draft.name_given, placeholder="my plan", width=220, margin=(6, 10))
    bind(name, draft, "name_given")
    buttons, show_buttons = _buttons(draft, transfer)
    form, show_form = _by_keyboard(draft)

    def show(*_: Any) -> None:
        told.object = say(draft.trouble, "trouble") or say(f"Spec: {spell(draft.made)}", "quiet")
        line.object = say(difference(strategies()["full"], draft.made), "quiet")
        chart.show(draft.groups, draft.plan)
        show_buttons()
        show_form()

    draft.param.watch(show, ["made", "trouble"])
    transfer.param.watch(
        lambda *_: draft.param.update(steps=transfer.steps, layers=transfer.layers), ["steps", "layers"]
    )
    show()
    return pmui.Column(
        html(say(WORDS, "quiet")), parts, html('<div class="label">paint with</div>', margin=(0, 10)), brush,
        pn.pane.Bokeh(chart.figure, sizing_mode="stretch_width"), form, told, line,
        pn.FlexBox(name, *buttons, align_items="center"), visible=False, sizing_mode="stretch_width", margin=0,
    )  # fmt: skip


def _buttons(draft: DraftStore, transfer: TransferStore) -> tuple[list[Any], Any]:
    small = {"variant": "outlined", "size": "small", "margin": (6, 4)}
    undo = pmui.Button(label="Undo", icon="undo", **small)
    redo = pmui.Button(label="Redo", icon="redo", **small)
    clear = pmui.Button(label="Clear edits", icon="format_color_reset", **small)
    add = pmui.Button(label="Add to the comparison", icon="add", color="primary", variant="contained", margin=(6, 4))
    undo.on_click(lambda _: draft.go_back(-1))
    redo.on_click(lambda _: draft.go_back(1))
    clear.on_click(lambda _: draft.clear())
    add.on_click(lambda _: transfer.keep(draft.made))

    def show() -> None:
        back, forth = draft.can
        undo.disabled, redo.disabled = not back, not forth
        clear.disabled, add.disabled = not draft.cells, bool(draft.trouble)

    return [add, undo, redo, clear], show


def _by_keyboard(draft: DraftStore) -> tuple[Any, Any]:
    """The same as dragging, with three fields and a button."""
    row = {"width": 170, "margin": (6, 10)}
    lowest = pmui.Select(label="from layer group", options=list(draft.groups), value=draft.groups[0], **row)
    highest = pmui.Select(label="up to", options=list(draft.groups), value=draft.groups[0], **row)
    steps = pmui.IntRangeSlider(label="steps", start=1, end=draft.steps, value=(1, draft.steps), width=230)
    paint = pmui.Button(label="Paint", icon="brush", variant="outlined", size="small", margin=(6, 10))
    paint.on_click(
        lambda _: draft.paint(draft.groups.index(lowest.value), draft.groups.index(highest.value), *steps.value)
    )

    def show() -> None:
        groups = list(draft.groups)
        if lowest.options != groups:
            for select in (lowest, highest):
                select.param.update(options=groups, value=groups[0])
        if steps.end != draft.steps:
            steps.param.update(end=draft.steps, value=(1, draft.steps))

    return pn.FlexBox(lowest, highest, steps, paint, align_items="center"), show
