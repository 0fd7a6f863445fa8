"""Edit a sentence until its label flips: type, and see how likely each label is and which words hold it."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.errors import Refusal
from playground.finetuning.apply.text_editing import Said
from widgets.pages.layout import bind
from widgets.state.sentence_editor import LONGEST, SentenceStore, label_of
from widgets.state.transfer import TransferStore
from widgets.theme import BLUE, ORANGE, html, say

WORDS = (
    "A copy of the base is fine-tuned for the task chosen at the side. Predictions update as you type; a word is "
    "tinted by how much the odds of the label fall when it is hidden."
)


def desk(store: SentenceStore, transfer: TransferStore, session: Callable[[], Any]) -> tuple[pmui.Column, Any]:
    """A button, behind it the place where a sentence is edited, and the tick that follows the teaching."""
    opened = pmui.Toggle(label="Edit a sentence until its label flips", icon="edit_note", value=False, margin=(10, 10))
    inside, tick = _inside(store, transfer, session)
    opened.param.watch(lambda event: inside.param.update(visible=event.new), "value")
    return pmui.Column(opened, inside, sizing_mode="stretch_width", margin=0), tick


def _inside(store: SentenceStore, transfer: TransferStore, session: Callable[[], Any]) -> tuple[pmui.Column, Any]:
    small = {"variant": "outlined", "size": "small", "margin": (6, 4)}
    teach = pmui.Button(label="Train a classifier", icon="school", color="primary", variant="contained", margin=(6, 10))
    teach.on_click(lambda _: _teach(store, transfer, session()))
    sample = pmui.Button(label="Another sentence", icon="shuffle", **small)
    sample.on_click(lambda _: store.take_sample())
    text = pmui.TextInput(
        label="sentence", value="", max_length=LONGEST, sizing_mode="stretch_width", margin=(10, 10, 4, 10)
    )
    text.param.watch(lambda event: store.param.update(text=event.new), "value_input")
    store.param.watch(lambda _: text.value_input == store.text or text.param.update(value=store.text), "text")
    wanted = pmui.Select(label="target label", options=[""], width=190, margin=(6, 10))
    bind(wanted, store, "wanted")
    turn = pmui.Button(label="Let the model edit it", icon="auto_fix_high", **small)
    turn.on_click(lambda _: store.let_it_edit())
    said, why, trouble = html(""), html(""), html("")
    row = pn.FlexBox(sample, wanted, turn, align_items="center", margin=(0, 6))
    judged = pmui.Column(text, said, row, why, visible=False, margin=0, sizing_mode="stretch_width")

    def show(*_: Any) -> None:
        said.object = picture(store)
        trouble.object = say(store.trouble, "trouble")

    store.param.watch(show, ["text", "edited", "begun", "trouble"])
    seen = {"turn": -1}

    def tick() -> None:
        if seen["turn"] == store.teaching.turn:
            return
        seen["turn"] = store.teaching.turn
        busy, error, taught = store.teaching.busy, store.teaching.error, store.taught
        teach.disabled, judged.visible = busy, taught is not None and not busy
        why.object = (
            say("Classifier and editor are training; that takes some seconds.", "quiet")
            if busy
            else say(error or "", "trouble")
        )
        trouble.object = why.object if not judged.visible else ""
        if judged.visible and taught is not None:
            names = list(taught.judge.answer.names)
            wanted.param.update(options=names, value=names[0])
            wanted.visible = turn.visible = taught.editor is not None
            why.object = say(taught.why_not, "quiet")
            store.take_sample()

    return pmui.Column(
        html(say(WORDS, "quiet")), teach, trouble, judged, visible=False, sizing_mode="stretch_width", margin=0
    ), tick


def _teach(store: SentenceStore, transfer: TransferStore, session: Any) -> None:
    try:
        store.teach(session, transfer.known)
    except Refusal as refusal:
        store.trouble = str(refusal)


def picture(store: SentenceStore) -> str:
    """A bar for every label, the sentence with the words that hold the likeliest one, and whether it has flipped."""
    said = store.said
    if said is None:
        return say("Type a sentence, or take another one." if store.taught else "", "quiet")
    bars = "".join(_bar(name, chance) for name, chance in said.chances.items())
    parts = [f'<div role="img" aria-label="{escape(_told(said))}">{bars}</div>', _tinted(said), _flipped(store, said)]
    if said.unknown:
        parts.append(say(f"Not in the model's vocabulary, so read as unknown: {', '.join(said.unknown)}.", "notice"))
    if store.edited is not None and store.edited.after == store.text:
        done = store.edited
        parts.append(
            say(
                f"The model changed {len(done.places)} words for {done.wanted}: {done.chance_before:.0%} before, "
                f"{done.chance_after:.0%} after, by an independent classifier.",
                "quiet",
            )
        )
    return "".join(parts)


def _told(said: Said) -> str:
    return ", ".join(f"{name} {chance:.0%}" for name, chance in said.chances.items())


def _bar(name: str, chance: float) -> str:
    return (
        '<div style="display:flex;align-items:center;gap:8px;margin:3px 0" class="number">'
        f'<span style="flex:0 0 96px;text-align:right;overflow-wrap:anywhere">{escape(name)}</span>'
        '<span style="flex:1;max-width:420px;height:14px;border-radius:3px;background:#8882">'
        f'<span style="display:block;height:100%;width:{100 * chance:.1f}%;border-radius:3px;background:{BLUE};'
        f'transition:width .15s"></span></span><span style="flex:0 0 46px">{chance:.0%}</span></div>'
    )


def _tinted(said: Said) -> str:
    """The sentence; a word is the fuller of colour the less likely the label would be without it."""
    most = max([*said.holds, 0.5])
    words = [
        f'<span title="hidden: {-held:+.2f} nats" style="padding:1px 3px;border-radius:3px;'
        f'background:{ORANGE}{round(150 * max(0.0, held) / most):02x}">{escape(piece)}</span>'
        for piece, held in zip(said.pieces, said.holds, strict=True)
    ]
    held, piece = max(zip(said.holds, said.pieces, strict=True), default=(0.0, ""))
    told = f"'{piece}' holds '{label_of(said)}' most: hidden, its odds change by {-held:+.2f} nats."
    return f'<p style="margin:.6em 0 .3em;line-height:1.9">{" ".join(words)}</p>' + say(told, "quiet")


def _flipped(store: SentenceStore, said: Said) -> str:
    if store.begun is None:
        return ""
    before, now = label_of(store.begun), label_of(said)
    if before == now:
        return say(f"It began as '{before}' ({store.begun.chances[before]:.0%}) and still is.", "quiet")
    return say(f"Flipped: it began as '{before}' and is now '{now}' ({said.chances[now]:.0%}).", "notice")
