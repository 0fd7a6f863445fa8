"""A line that says when the app is no longer there, and the way back."""

from pathlib import Path

import panel as pn


class Lost(pn.custom.AnyWidgetComponent):
    """An unseen helper on the page until the connection to the app is lost."""

    _esm = Path(__file__).with_name("lost.js")
