"""The app, served in this very process, and the page that visits it."""

from collections.abc import Iterator

import pytest

from tests.browsing import browser, context_size, page
from widgets import server

__all__ = ["browser", "context_size", "page"]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a running app."""
    port = server.free_port()
    thread = server.start(port)
    yield f"http://localhost:{port}"
    thread.stop()


@pytest.fixture(autouse=True)
def guarded(request: pytest.FixtureRequest) -> None:
    """Whoever opens a page gets the strict one: remote requests, console errors and page errors fail the test."""
    if "page" in request.fixturenames:
        request.getfixturevalue("page")
