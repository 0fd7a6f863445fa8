"""A file that is not in UTF-8, on every page that takes one: what the refusal advises can be done on that page."""

import panel_material_ui as pmui
import pytest

from tests.runs import tiny
from widgets.pages.corpus import CorpusPage
from widgets.pages.layout import Column
from widgets.pages.train.page import TrainPage
from widgets.pages.transfer.page import TransferPage
from widgets.state.app import Store
from widgets.state.train import choice as train_choice
from widgets.state.train.choice import OWN_FILE
from widgets.state.transfer.task_choice import OWN_FILE as LABELLED_FILE
from widgets.theme import Html

NAME = "films.csv"
ROWS = "text,label\n" + "".join(f"größter film {k} war {word},{word}\n" for k in range(60) for word in ("gut", "alt"))
WRONG = ROWS.index("ö")


def corpus(store, content):
    """The page, and what reads the file that is chosen there."""
    store.corpus.source = OWN_FILE
    store.corpus.keep([(NAME, content)])
    return CorpusPage(store), store.corpus.reading.wait


def train(store, content):
    store.train.corpus = OWN_FILE
    store.train.keep(NAME, content)
    return TrainPage(store.train), store.train.begin


def transfer(store, content):
    store.transfer.task = LABELLED_FILE
    store.transfer.upload(NAME, content)
    return TransferPage(store), lambda: None


def seen(page, read):
    """What stands on the page once the file is read."""
    read()
    page.poll()
    return " ".join(text.object for text in page.layout.select(Html) if text.visible)


def choices(page):
    """The encoding menu of the page where neither it nor a column around it is hidden, or none."""
    made = (part for part in page.layout.select(pmui.Select) if part.label == "encoding" and part.visible)
    columns = page.layout.select(Column)
    return [part for part in made if all(around.visible for around in columns if part in around.select())]


@pytest.mark.parametrize("of_page", [corpus, train, transfer])
def test_the_advice_of_a_refusal_can_be_followed_on_the_page(of_page, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(train_choice, "entry_named", tiny)
    store = Store()
    page, read = of_page(store, ROWS.encode("cp1252"))
    said = seen(page, read)
    parts, [choice] = page.layout.select(), choices(page)
    assert parts.index(choice) > next(k for k, part in enumerate(parts) if isinstance(part, pmui.FileInput))
    refusal = f"films.csv is not in UTF-8: byte {WRONG} cannot be read; save it as UTF-8."
    assert f"{refusal} Or choose its encoding below the file." in said
    choice.value = "utf-16"
    assert "films.csv is not in utf-16: " in (said := seen(page, read)) and "try another encoding.<" in said
    choice.value = "cp1252"
    assert "encoding" not in seen(page, read) and choices(page), "so that it can be changed again"
    page, read = of_page(store, ROWS.encode())
    assert "encoding" not in seen(page, read) and not choices(page), "another file is in an encoding of its own"
    store.close()
