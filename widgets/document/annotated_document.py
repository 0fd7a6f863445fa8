"""A document of a corpus with its annotations, drawn."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class DocumentPane(Component):
    """A document and its layers; `on` follows the chips that a person presses."""

    _esm = beside(__file__)
    record = param.Dict(default={}, doc="Words, borders and layers, as `Sheet.record` makes them.")
    layers = param.List(default=[], doc="The names of all layers of the corpus, one chip each.")
    on = param.List(default=[], doc="The names of the layers that are shown.")
