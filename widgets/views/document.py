"""The picture of one document in the served app; its drawing is in `document.js`."""

from pathlib import Path

import panel as pn
import param

ESM = Path(__file__).with_name("document.js").read_text(encoding="utf-8")


class DocumentPane(pn.custom.AnyWidgetComponent):
    """A document and its layers; `on` follows the chips that a person presses."""

    _esm = ESM
    record = param.Dict(default={}, doc="Words, borders and layers, as `Sheet.record` makes them.")
    layers = param.List(default=[], doc="The names of all layers of the corpus, one chip each.")
    on = param.List(default=[], doc="The names of the layers that are shown.")
