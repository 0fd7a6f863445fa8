"""What several tests of the pages without a browser begin with."""

import pytest

from widgets.state.app import Store


@pytest.fixture
def store(tmp_path):
    """The state of a visit that keeps its runs in a folder of its own."""
    made = Store(tmp_path / "runs")
    yield made
    made.close()
