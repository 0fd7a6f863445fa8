"""What a notebook shows, as widgets: the stage, the survey's table and a run."""

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import ipywidgets
import traitlets

from playground.errors import UserError
from widgets.animation.record import Record, typeset
from widgets.animation.schema import unheard
from widgets.bundle import beside

ESM = beside(__file__, "js/main.js")
"""The drawing module: the stage, the survey's table and the replay of a run, for every host."""


class DrawingWidget(anywidget.AnyWidget):
    """A widget of the drawing module, which is sent to the browser only once it is shown.

    `kind` says what is drawn; `reserve` names the parts of the page that stand in where this widget is not.
    """

    _esm = ESM
    kind = traitlets.Unicode().tag(sync=True)
    reserve = traitlets.Unicode().tag(sync=True)

    @traitlets.default("layout")
    def _wide(self) -> ipywidgets.Layout:
        """As wide as there is room; several in a box share it."""
        return ipywidgets.Layout(width="100%", min_width="0")

    def open(self) -> None:
        """Nothing yet: most values of a notebook are read and not shown."""

    @property
    def model_id(self) -> str:
        """The id by which the browser, or a box around this widget, knows it."""
        if self.comm is None:
            super().open()
        return super().model_id


class StageWidget(DrawingWidget):
    """The stage in a notebook; `frame` and `playing` follow the person, `edit` is what they last did by hand."""

    kind = traitlets.Unicode("stage").tag(sync=True)
    record = traitlets.Dict().tag(sync=True)
    frame = traitlets.Int(0, help="The number of the frame that is shown.").tag(sync=True)
    playing = traitlets.Bool(False, help="Whether the animation plays.").tag(sync=True)
    editable = traitlets.Bool(False).tag(sync=True)
    edit = traitlets.Dict().tag(sync=True)

    @traitlets.validate("record")
    def _typeset(self, proposal: Any) -> Record:
        record = proposal["value"]
        if record and not record.keys() & {"frames", "records", "alone"}:
            has = ", ".join(map(str, record))
            raise UserError(f"This is not a record of a stage: it has no frames, but {has}; save stage(...).record.")
        return typeset(record)

    @traitlets.validate("frame")
    def _on_film(self, proposal: Any) -> int:
        """The nearest frame that there is, as the slider takes it."""
        first = self.record.get("records", [self.record])[0]
        return max(0, min(proposal["value"], len(first.get("frames", "?")) - 1))

    def follow(self, store: Any, record: Callable[[], Record]) -> None:
        """Show the record whenever the store has rebuilt it, and give the store what a person does by hand."""
        heard: dict[str, int] = {}

        def listen(change: Mapping[str, Any]) -> None:
            for edit in unheard(change["new"], heard):
                store.edit(edit)

        def show(*_: Any) -> None:
            self.record = record()

        self.editable = True
        self.observe(listen, "edit")
        store.param.watch(show, ["rebuilt", "companions", "said", "trouble"])
