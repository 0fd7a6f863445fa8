"""The Write tab of the Train page: a prompt, how it is continued, and what the model writes."""

from typing import Any

import panel_material_ui as pmui

from widgets.pages.knobs import Knobs
from widgets.pages.layout import FIELD, MAIN, View, button, column, row
from widgets.state.train.store import TrainStore
from widgets.state.train.writing import SAMPLING, WritingStore
from widgets.static import writing
from widgets.theme import html, say

LONGEST = 2_000
"""Characters of a prompt."""

IDEAS = {
    "greedy search": "Writes the likeliest token each time.",
    "sampling": "Draws each token by its probability; temperature, top k and top p make rare tokens rarer.",
    "beam search": "Keeps several texts and writes on at each; the likeliest one as a whole comes first.",
}


class Writing(View):
    """Nothing runs before the button is pressed; a run that trains rests while its model writes."""

    def __init__(self, train: TrainStore) -> None:
        self.train, self.writing = train, train.writing
        state, small = self.writing, {"size": "small", "width": 190, "margin": (6, 10)}
        self.why, self.about, self.said, self.result = html(""), html(""), html(""), html("")
        self.prompt = pmui.TextAreaInput.from_param(state.param.text, rows=2, max_length=LONGEST, onkeyup=True, **FIELD)
        self.prefix = pmui.Select(label="task prefix", options={}, **small)
        self.prefix.param.watch(self._begin_with, "value")
        self.way = pmui.Select.from_param(state.param.way, **small)
        self.code = _choice("control code", state, "code", small)
        self.language = _choice("language", state, "language", small)
        self.knobs = Knobs(
            state, ["way", "turned"], lambda: state.knobs, lambda: state.turned, state.set, throttled=True, beside=True
        )
        self.write = button("Write", state.begin, "edit_note", margin=(6, 10), **MAIN)
        self.again = button("Draw another", state.again, "casino", margin=(6, 3))
        choices = row(self.way, self.prefix, self.code, self.language, margin=0)
        acts = row(self.write, self.again, margin=0)
        self.controls = column(self.prompt, choices, self.about, self.knobs, acts)
        state.param.watch(self._turn, "way")
        state.param.watch(self._show, "session")
        super().__init__(column(self.why, self.controls, self.said, self.result))
        self._turn()
        self._show()

    def _turn(self, *_: object) -> None:
        """What fits the way that is chosen."""
        way = self.writing.way
        self.about.object, self.again.visible = say(IDEAS[way], "quiet"), way == SAMPLING

    def _show(self, *_: object) -> None:
        """What fits the model."""
        state = self.writing
        why = state.cannot
        self.why.object, self.controls.visible = say(why, "notice"), not why
        self.prompt.label = "text that the encoder reads" if state.reads_source else "beginning of the text"
        prefixes, codes = state.prefixes, state.codes
        self.prefix.param.update(
            options={"none": "", **{each: each for each in prefixes}}, value="", visible=bool(prefixes)
        )
        numbered = {name: number for number, name in enumerate(codes, 1)}
        self.code.param.update(options={"none": 0, **numbered}, value=state.code, visible=bool(codes))
        languages = {f"language {number + 1}": number for number in range(state.languages)}
        self.language.param.update(options=languages or {"": 0}, value=state.language, visible=len(languages) > 1)

    def _begin_with(self, event: Any) -> None:
        """Put a task prefix before the prompt, in the place of another one."""
        if not event.new:
            return
        text = self.writing.text
        used = next((prefix for prefix in self.writing.prefixes if text.startswith(prefix)), "")
        self.writing.text = f"{event.new} {text[len(used) :].strip()}"

    def poll(self) -> None:
        self.writing.take(self.train.session)
        job = self.writing.job
        if not self.is_new(job.turn):
            return
        self.write.disabled = self.again.disabled = job.busy
        if job.busy:
            return
        self.said.object = say(job.error or "", "trouble")
        shown = ""
        if job.result is not None and not job.error:
            written, model = job.result
            tinted = f"Written by {model}. The stronger its tint, the likelier a token was."
            shown = say(written.notice, "notice") + writing.markup(written) + say(tinted, "quiet")
        self.result.object = shown


def _choice(label: str, state: WritingStore, name: str, looks: dict[str, Any]) -> pmui.Select:
    """A menu of numbers by their names."""
    field = pmui.Select(label=label, options={}, visible=False, **looks)

    def choose(event: Any) -> None:
        if event.new is not None:
            state.param.update(**{name: event.new})

    field.param.watch(choose, "value")
    return field
