"""What is chosen as a file on the pages, before anything of it is read."""

import panel_material_ui as pmui
import pytest
from panel.models.esm import DataEvent

from widgets.pages import corpus, stage, train, transfer
from widgets.store import LONGEST_TEXT, Store

PAGES = {
    "Train": (lambda store: train.page(store.train), lambda store: store.train.trouble),
    "Transfer": (transfer.page, lambda store: store.transfer.trouble),
    "Corpus": (corpus.page, lambda store: store.corpus.trouble),
}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "runs")
    yield made
    made.close()


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_file_is_refused_on_every_page_and_another_is_not(store, name):
    page, trouble = PAGES[name]
    (upload,) = page(store)[0].select(pmui.FileInput)
    begun = {"status": "upload_event", "chunk": 1, "total_chunks": 1, "mime_type": "text/plain"}
    for said in ({**begun, "name": "a.txt", "data": b"some text"}, {"status": "finished"}):
        upload._process_event(DataEvent(None, data=said))
    assert "empty" not in trouble(store)
    upload._process_event(DataEvent(None, data={"status": "finished"}))
    assert trouble(store) == "The file is empty; choose a file with text in it."


def test_a_box_that_is_full_says_so(store):
    page, _ = stage.page(store.stage)
    store.stage.text = "word " * (LONGEST_TEXT // 5)
    assert any("2,000 characters" in str(pane.object) for pane in page.select(lambda pane: hasattr(pane, "object")))
