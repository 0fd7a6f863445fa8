"""What several tests of the pages without a browser begin with."""

import pytest

from widgets.state.app import Store


@pytest.fixture(autouse=True)
def _own_runs(monkeypatch, tmp_path_factory):
    """What names no folder for its runs keeps them in a folder of the test."""
    for name in ("train", "transfer"):
        folder = tmp_path_factory.mktemp("kept")
        monkeypatch.setattr(f"widgets.state.{name}.store.runs_folder", lambda folder=folder: folder)


@pytest.fixture
def store(tmp_path):
    """The state of a visit that keeps its runs in a folder of its own."""
    made = Store(tmp_path / "runs")
    yield made
    made.close()
