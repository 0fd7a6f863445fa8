"""What the widget library leaves unnamed gets its name, for people who hear the page."""

from pathlib import Path

import panel as pn


class Care(pn.custom.AnyWidgetComponent):
    """An unseen helper on the page; it only adds roles and names."""

    _esm = Path(__file__).with_name("care.js")
