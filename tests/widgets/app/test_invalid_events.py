"""What no widget takes is told from a fault of ours."""

from pathlib import Path

import pytest

from playground.errors import UserError
from widgets.app.invalid_events import not_taken
from widgets.pages.train import TrainPage
from widgets.state.train import TrainStore

PATH = "/etc/passwd"


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(UserError) as ours:
        TrainStore(tmp_path, corpus="nope").load_corpus()
    assert not not_taken(ours.value)
    (text,) = (w for w in TrainPage(TrainStore(tmp_path)).layout.select() if getattr(w, "label", "") == "text")
    with pytest.raises(ValueError, match="not in list") as theirs:
        text._process_events({"value": PATH})
    assert not_taken(theirs.value)
    assert text.value == "world"
