"""Keys that work without a focus on the Train page, and what the last of them has done."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component
from widgets.state.app import Store


class Keys(Component):
    """An unseen helper on the page: it presses the buttons of the Train page by key and hears a wish to fork."""

    _esm = beside(__file__)
    page = param.Integer(default=0, doc="The page that is open.")
    asked = param.Integer(default=0, doc="How often a fork was asked for.")
    said = param.Dict(default={}, doc="What the last fork has done, with its number, so that the same is said again.")


def keys(store: Store) -> Keys:
    """The helper for a visit."""
    made = Keys(page=store.page, height=0, margin=0)
    store.param.watch(lambda event: setattr(made, "page", event.new), "page")

    def say(text: str) -> None:
        if text:
            made.said = {"text": text, "number": made.said.get("number", 0) + 1}

    store.param.watch(lambda event: say(event.new), "told")
    made.param.watch(lambda _: say(store.fork()), "asked")
    return made
