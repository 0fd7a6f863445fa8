"""Notebook exports are opened in the same strict page as the app."""

import pytest

from tests.browsing import browser, context_size, page, profile

__all__ = ["browser", "context_size", "page", "profile"]


@pytest.fixture
def offline_page(page):
    """A page from which no request leaves."""
    return page
