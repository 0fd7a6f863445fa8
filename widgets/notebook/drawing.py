"""How a value shows itself in a notebook: as a live widget, and as a part of the page that needs no kernel."""

import os
import sys
from typing import Any
from uuid import uuid4

from IPython import get_ipython
from IPython.display import display

from widgets.animation.cells import needs_module
from widgets.animation.widget import DrawingWidget
from widgets.bundle import sheet
from widgets.design_tokens import properties

STYLE = properties(".playground") + sheet(__file__)


def headless() -> bool:
    """Whether this kernel has no browser (papermill, nbconvert), so that widgets would stay blank.

    The environment variable PLAYGROUND_HEADLESS decides where it is set. Else a front end marks the cells that it
    sends, and papermill does not, also where it was started from a notebook and inherits the variables of that.
    """
    if (given := os.environ.get("PLAYGROUND_HEADLESS")) is not None:
        return given not in ("", "0", "false")
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return True
    request = shell.kernel.get_parent("shell") or {}
    if request.get("header", {}).get("msg_type") == "execute_request":
        return not request.get("metadata")
    return "JPY_SESSION_NAME" not in os.environ


def in_block(markup: str) -> str:
    """Markup of ours as an output cell, in line with the stage above it and in the colours of the notebook."""
    return f'<div class="playground"><style>{STYLE}</style>{markup}</div>'


class Drawing(DrawingWidget):
    """A widget that leaves the same drawing in the saved notebook: it is shown there while no kernel answers.

    A front end prefers the view of a widget to all else in one output, also where its model is gone, so what is kept
    in reserve is an output of its own.
    """

    _kept: Any = None
    _holds = False

    def baked(self, module: bool) -> str:
        """The drawing as markup, with the drawing module where no other cell of the page has it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.baked(needs_module())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The drawing without a kernel, and before a person the widget as well."""
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        return bundle if headless() else {**self._view(), **bundle}

    def _view(self) -> dict[str, Any]:
        live = super()._repr_mimebundle_() or {}
        return live[0] if isinstance(live, tuple) else live

    def _ipython_display_(self, **_: Any) -> None:
        if headless() or "google.colab" in sys.modules:  # there every output is a page of its own
            display(self._repr_mimebundle_(), raw=True)
            return
        self.reserve = self.reserve or uuid4().hex[:12]
        self._holds = needs_module()
        self._kept = display({"text/html": self.baked(self._holds)}, raw=True, display_id=True)
        display({kind: data for kind, data in self._view().items() if kind != "text/plain"}, raw=True)

    def keep(self) -> None:
        """Bring what the saved notebook shows up to date with the widget."""
        if self._kept is not None:
            self._kept.update({"text/html": self.baked(self._holds)}, raw=True)
