"""Which model's numbers stand on the stage, and what to do next: a row of buttons and a sentence above the picture."""

from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.errors import Refusal
from widgets.state.app import StageStore
from widgets.state.stage_model import STEPS
from widgets.theme import GROWING, html, say


def row(store: StageStore) -> tuple[Any, Any]:
    """The row, and the tick that keeps it true while a model is trained.

    A button that may come or go stands before those that stay, and one that cannot be pressed now keeps its place, so
    that nothing moves away under a pointer that is about to press it.
    """
    said = html("", margin=(6, 4, 0, 4), styles={"flex": "1 1 190px", "min-width": "190px"})
    look = {"size": "small", "variant": "outlined", "margin": (2, 4)}
    train = pmui.Button(
        label="Train a small model now", icon="play_arrow", **look,
        description=f"Train a small model now: {STEPS} steps, here on the stage, for attention, guesses and loss.",
    )  # fmt: skip
    borrow = pmui.Button(label="Use the model of the Train page", **look)
    inside = pmui.Button(label="Step through one update", width=152, **look)
    leave = pmui.Button(label="Remove the model", size="small", variant="text", margin=(2, 4))
    beside = pmui.Button(label="Same sentence", icon="view_column", **look)
    watch = pmui.Button(
        label="Train this", icon="show_chart", **look,
        description="Train this: a whole run of this objective with its knobs; opens the Train page and begins.",
    )  # fmt: skip
    streams = pmui.Button(label="Next: why two streams?", icon="school", **look)
    acts = {
        streams: store.two_streams, train: store.teach, borrow: store.borrow, leave: lambda: store.lend(None),
        inside: store.look_inside, beside: store.compare, watch: store.train_this,
    }  # fmt: skip
    for button, act in acts.items():
        button.on_click(lambda _, act=act: (_do(store, act), tick()))

    def tick() -> None:
        store.take()
        busy, silent = store.teaching.busy, bool(store.silent)
        wanted = {
            streams: store.objective != "PLM" and (bool(store.beside) or store.model is not None),
            train: not busy and (store.model is None or silent),
            borrow: store.trained is not None and (store.model is None or silent),
            inside: store.model is not None,
            leave: store.model is not None,
        }
        for button, visible in wanted.items():
            if button.visible != visible:
                button.visible = visible
        for button, able in {beside: not store.inside, watch: not busy and not store.inside}.items():
            if button.disabled == able:
                button.disabled = not able
        labels = {
            inside: "Back to the sentence" if store.inside else "Step through one update",
            beside: f"{store.objective} alone" if store.beside else f"Same sentence as {store.other}",
        }
        for button, label in labels.items():
            if button.label != label:
                button.label = label
        text = _said(store)
        if said.object != text:
            said.object = text

    tick()
    wide = {"sizing_mode": "stretch_width"}
    line = pn.FlexBox(said, *acts, align_items="center", margin=(0, 6), stylesheets=[GROWING], **wide)
    return line, tick


def _do(store: StageStore, act: Any) -> None:
    try:
        act()
    except Refusal as refusal:
        store.trouble = str(refusal)


def _said(store: StageStore) -> str:
    if store.teaching.busy:
        share = store.teaching.share or 0.0
        if store.beside:
            return say(f"Small models of what is on the stage are learning: {share:.0%} done.", "quiet")
        return say(f"A small {store.objective} model is learning: step {round(STEPS * share)} of {STEPS}.", "quiet")
    if store.teaching.error is not None:
        return say(store.teaching.error, "trouble")
    if store.silent:
        return say(store.silent, "notice")
    if store.model is None:
        return say(
            "No model loaded; attention, predictions and loss are hidden.",
            "quiet",
        )
    return say(f"The numbers are those of {store.model.name}.", "quiet")
