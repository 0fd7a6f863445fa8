"""Runs coroutines beside a browser: Playwright leaves an event loop in the thread of the worker that opened it."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_apart(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that ran in a loop of its own, in a thread of its own."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, coroutine).result()  # noqa: TID251 (the one place)
