"""The drain: one callback per visit that takes over what the threads have done and never makes them wait."""

from collections.abc import Callable

import panel as pn
from panel.io.callbacks import PeriodicCallback

PERIOD = 300
"""Milliseconds between two looks: three a second look alive, and one that finds nothing costs half of 1 ms."""


def drain(*ticks: Callable[[], None]) -> PeriodicCallback:
    """Call every tick some times a second as long as the visit lasts.

    The callback is a coroutine on purpose: a plain function would run in a thread pool where Bokeh refuses to stream.
    It runs in the background, else Panel would redraw the page's busy sign twenty times a second. It begins when the
    page stands in the browser: what is changed while the page is on its way there never arrives.
    """

    async def tick() -> None:
        for one in ticks:
            one()

    callback = PeriodicCallback(callback=tick, period=PERIOD, background=True, log=False)
    pn.state.onload(callback.start)
    return callback
