"""How a visit begins: the answer first, then the page, and patience with a browser that is slow to come back."""

from collections.abc import Callable
from contextlib import ExitStack

import panel as pn
from panel.io.resources import get_dist_path

PATIENCE = 60_000
"""Milliseconds that a browser has to open its connection; a visit that ends is given up much sooner."""


def after_the_answer(make: Callable[[], None]) -> None:
    """Make the page while the browser is busy with the scripts, not while it waits for its first byte."""
    visit = pn.state.curdoc
    if visit is None:
        make()
        return
    # A slow browser comes back to a visit that was begun anew without an answer, which would have noted this.
    visit.template_variables.setdefault("dist_url", get_dist_path(cdn=False))
    visit.add_next_tick_callback(lambda: (wait_for_the_browser(), make()))


def wait_for_the_browser() -> None:
    """Keep the visit until the browser has opened its connection; it is loading and running scripts meanwhile."""
    visit, hold = pn.state.curdoc, ExitStack()
    session = visit.session_context.session
    session.block_expiration()
    hold.callback(session.unblock_expiration)  # once, whichever of the two closes first
    pn.state.onload(_renew_the_busy_sign)
    pn.state.onload(hold.close)
    visit.add_timeout_callback(hold.close, PATIENCE)


def _renew_the_busy_sign() -> None:
    """What was put out while the page was on its way still shines there; the next callback puts it out again."""
    pn.state.add_periodic_callback(lambda: None, period=500, count=1)
