"""The drain: one callback per visit that takes over what the threads have done and never makes them wait."""

from collections.abc import Callable

from widgets.panel_compat import PeriodicCallback, every

PERIOD = 300
"""Milliseconds between two looks: three a second look alive, and one that finds nothing costs half of 1 ms."""


def drain(*ticks: Callable[[], None]) -> PeriodicCallback:
    """Call every tick some times a second as long as the visit lasts.

    The callback is a coroutine on purpose: a plain function would run in a thread pool where Bokeh refuses to stream.
    """

    async def tick() -> None:
        for one in ticks:
            one()

    return every(PERIOD, tick)
