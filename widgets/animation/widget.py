"""The stage in a notebook."""

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from widgets.animation.edits import unheard
from widgets.animation.record import Record, typeset
from widgets.bundle import beside

ESM = beside(__file__, "js/main.js")
"""The drawing module: the stage, the survey's table and the replay of a run, for every host."""


class StageWidget(anywidget.AnyWidget):
    """The stage in a notebook; `frame` and `playing` follow the person, `edit` is what they last did by hand."""

    _esm = ESM
    record = traitlets.Dict().tag(sync=True)
    frame = traitlets.Int(0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    editable = traitlets.Bool(False).tag(sync=True)
    edit = traitlets.Dict().tag(sync=True)

    @traitlets.validate("record")
    def _typeset(self, proposal: Any) -> Record:
        return typeset(proposal["value"])


def live_widget(store: Any) -> StageWidget:
    """The stage in a notebook with editing: the store takes the edits, and what it rebuilds is shown."""

    def record() -> Record:
        """The record, and what a page of the app would show and hear, for there is none."""
        more, made = {"said": store.said or store.trouble or store.full, "alone": True}, store.record()
        return made | more | ({"records": [r | more for r in made["records"]]} if "records" in made else {})

    widget, heard = StageWidget(record=record(), editable=True), {}

    def listen(change: Mapping[str, Any]) -> None:
        for edit in unheard(change["new"], heard):
            store.edit(edit)

    def show(*_: Any) -> None:
        widget.record = record()

    widget.observe(listen, "edit")
    store.param.watch(show, ["rebuilt", "companions", "said", "trouble"])
    return widget
