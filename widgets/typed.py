"""What was typed counts before the click that follows it, also in a browser that is busy."""

from pathlib import Path

import panel as pn


class Typed(pn.custom.AnyWidgetComponent):
    """An unseen helper on the page; it only holds back the click that follows typing until the text is sent."""

    _esm = Path(__file__).with_name("typed.js")
