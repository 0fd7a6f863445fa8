"""The stage in a notebook."""

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from widgets.animation.edits import unheard
from widgets.animation.record import Record, typeset
from widgets.bundle import beside

ESM = beside(__file__, "js/main.js")


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
    """The stage in a notebook with its hands on: what is edited goes to the store, what it rebuilds comes back."""

    def record() -> Record:
        """With what else there is to say: here no page stands around the stage, which hears every key itself."""
        more, told = {"said": store.said or store.trouble or store.full, "alone": True}, store.record()
        return {**told, **more, **({"records": [{**r, **more} for r in told["records"]]} if "records" in told else {})}

    widget, heard = StageWidget(record=record(), editable=True), {}

    def listen(change: Mapping[str, Any]) -> None:
        for edit in unheard(change["new"], heard):
            store.edit(edit)

    widget.observe(listen, "edit")

    def show(*_: Any) -> None:
        widget.record = record()

    store.param.watch(show, ["rebuilt", "companions", "said", "trouble"])
    return widget
