"""What every part of the page that is drawn by our own JavaScript is made of.

It rests on what Panel 1.9 leaves unnamed: what the model of a component is made with, and that a component with a
bundle is not compiled by the browser.
"""

from hashlib import sha256
from typing import Any

from panel.custom import AnyWidgetComponent


class Component(AnyWidgetComponent):
    """A component whose module is JavaScript as browsers read it.

    Panel sends every module through a compiler for TypeScript and JSX, in the browser, once for each component on the
    page; nothing of ours is written in either. What Panel calls a bundle is taken as it is.
    """

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        properties = super()._get_properties(doc)
        return properties | {"bundle": sha256(properties["esm"].encode()).hexdigest()}
