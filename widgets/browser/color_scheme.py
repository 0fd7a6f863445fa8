"""Light or dark as the system of a visitor has it, or as somebody chose on an earlier visit."""

from urllib.parse import unquote

import panel as pn

from widgets.bundle import beside
from widgets.panel_compat import Component


class Night(Component):
    """An unseen helper on the page: it follows the system, and keeps in a cookie what is shown."""

    _esm = beside(__file__)


def scheme() -> str:
    """What was shown last ("light" or "dark"), also by the system's choice; empty on a first visit."""
    told = unquote(pn.state.cookies.get("night", "")).removeprefix("system ")
    return told if told in ("light", "dark") else ""
