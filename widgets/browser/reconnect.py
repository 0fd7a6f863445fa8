"""A line that says when the connection is lost, and the way back to the same visit with its run."""

import panel as pn
import param

from widgets.app.server import LOST_FOR
from widgets.bundle import beside
from widgets.panel_compat import Component
from widgets.state.app import Store


class Lost(Component):
    """An unseen helper on the page until the connection is lost; it comes back to the same visit by itself.

    The browser's tab remembers the run, so that a visit which is begun anew can offer it.
    """

    _esm = beside(__file__)
    run = param.String("", doc="The name of the run on screen.")
    earlier = param.String("", doc="The name of the run that was in this tab before.")
    visit = param.String("", doc="The visit, which the page names when it is left for good or comes back.")
    minutes = param.Integer(LOST_FOR // 60_000, doc="How long a visit is kept without its page.")


def lost(store: Store) -> Lost:
    """The helper for a visit."""
    context = pn.state.curdoc.session_context if pn.state.curdoc else None
    made = Lost(run=store.train.name_of_run, visit=context.id if context else "", height=0, margin=0)
    store.train.param.watch(lambda event: setattr(made, "run", event.new), "name_of_run")
    made.param.watch(lambda event: setattr(store.train, "earlier", event.new), "earlier")
    return made
