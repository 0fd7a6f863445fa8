"""Edit a sentence until its label flips: type, and see how likely each label is and which words decide."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel_material_ui as pmui

from playground.errors import UserError
from playground.finetuning.apply.text_editing import Judgement
from playground.training import Session
from widgets.design_tokens import BLUE, ORANGE
from widgets.pages.layout import MAIN, View, button, column, row, typed, unfolding
from widgets.state.sentence_editor import LONGEST, SentenceEditorStore, label_of
from widgets.state.transfer.store import TransferStore
from widgets.theme import html, say

ABOUT = (
    "A copy of the base is fine-tuned for the task chosen at the side. Predictions update as you type; a word is "
    "tinted by how much the odds of the label fall when it is hidden."
)


class SentenceEditor(View):
    """A button, behind it a sentence with its prediction; `base` gives the session whose model is fine-tuned."""

    def __init__(self, state: SentenceEditorStore, transfer: TransferStore, base: Callable[[], Session | None]) -> None:
        self.state, self.transfer, self.base = state, transfer, base
        self.teach = button("Train a classifier", self._teach, "school", margin=(6, 10), **MAIN)
        sample = button("Another sentence", state.take_sample, "shuffle", margin=(6, 4))
        text = typed(state.param.text, max_length=LONGEST, margin=(10, 10, 4, 10))
        self.target_label = pmui.Select.from_param(state.param.target_label, options=[""], width=190, margin=(6, 10))
        self.edit = button("Let the model edit it", state.let_it_edit, "auto_fix_high", margin=(6, 4))
        self.prediction, self.why, self.trouble = html(""), html(""), html("")
        asked = row(sample, self.target_label, self.edit, margin=(0, 6))
        self.judged = column(text, self.prediction, asked, self.why, visible=False)
        state.param.watch(self._show, ["text", "edited", "begun", "trouble"])
        inside = column(html(say(ABOUT, "quiet")), self.teach, self.trouble, self.judged)
        super().__init__(unfolding("Edit a sentence until its label flips", "edit_note", inside))

    def _teach(self) -> None:
        try:
            self.state.teach(self.base(), self.transfer.task_choice.known)
        except UserError as refusal:
            self.state.trouble = str(refusal)

    def _show(self, *_: Any) -> None:
        self.prediction.object = picture(self.state)
        self.trouble.object = say(self.state.trouble, "trouble")

    def poll(self) -> None:
        teaching, taught = self.state.teaching, self.state.taught
        if not self.is_new(teaching.turn):
            return
        self.teach.disabled = teaching.busy
        if teaching.busy or taught is None:
            why = say("The classifier and the editor are training; this takes some seconds.", "quiet")
            self.trouble.object = why if teaching.busy else say(teaching.error or "", "trouble")
            self.judged.visible = False
            return
        names = list(taught.judge.classes)
        self.target_label.param.update(options=names, value=names[0])
        self.target_label.visible = self.edit.visible = taught.editor is not None
        self.why.object, self.trouble.object, self.judged.visible = say(taught.why_not, "quiet"), "", True
        self.state.take_sample()


def picture(state: SentenceEditorStore) -> str:
    """A bar for every label, the sentence with the words that decide the likeliest one, and whether it has flipped."""
    said = state.said
    if said is None:
        return say("Type a sentence, or choose another one." if state.taught else "", "quiet")
    spoken = ", ".join(f"{name} {chance:.0%}" for name, chance in said.chances.items())
    bars = "".join(_bar(name, chance) for name, chance in said.chances.items())
    parts = [f'<div role="img" aria-label="{escape(spoken)}">{bars}</div>', _tinted(said), _flipped(state, said)]
    if said.unknown:
        parts.append(say(f"Not in the model's vocabulary, so read as unknown: {', '.join(said.unknown)}.", "notice"))
    if state.edited is not None and state.edited.after == state.text:
        done = state.edited
        changed = (
            f"The model changed {len(done.positions)} words for {done.target_label}: {done.chance_before:.0%} before, "
            f"{done.chance_after:.0%} after, by an independent classifier."
        )
        parts.append(say(changed, "quiet"))
    return "".join(parts)


def _bar(name: str, chance: float) -> str:
    return (
        '<div style="display:flex;align-items:center;gap:8px;margin:3px 0" class="number">'
        f'<span style="flex:0 0 96px;text-align:right;overflow-wrap:anywhere">{escape(name)}</span>'
        '<span style="flex:1;max-width:420px;height:14px;border-radius:3px;background:#8882">'
        f'<span style="display:block;height:100%;width:{100 * chance:.1f}%;border-radius:3px;background:{BLUE};'
        f'transition:width .15s"></span></span><span style="flex:0 0 46px">{chance:.0%}</span></div>'
    )


def _tinted(said: Judgement) -> str:
    """The sentence; a word is the fuller of colour the less likely the label would be without it."""
    most = max([*said.importance, 0.5])
    words = [
        f'<span title="hidden: {-held:+.2f} nats" style="padding:1px 3px;border-radius:3px;'
        f'background:{ORANGE}{round(150 * max(0.0, held) / most):02x}">{escape(piece)}</span>'
        for piece, held in zip(said.pieces, said.importance, strict=True)
    ]
    held, piece = max(zip(said.importance, said.pieces, strict=True), default=(0.0, ""))
    most_of = f"'{piece}' contributes most to '{label_of(said)}': hidden, its odds change by {-held:+.2f} nats."
    return f'<p style="margin:.6em 0 .3em;line-height:1.9">{" ".join(words)}</p>' + say(most_of, "quiet")


def _flipped(state: SentenceEditorStore, said: Judgement) -> str:
    if state.begun is None:
        return ""
    before, now = label_of(state.begun), label_of(said)
    if before == now:
        return say(f"It started as '{before}' ({state.begun.chances[before]:.0%}) and still is.", "quiet")
    return say(f"Flipped: it was '{before}' and is now '{now}' ({said.chances[now]:.0%}).", "notice")
