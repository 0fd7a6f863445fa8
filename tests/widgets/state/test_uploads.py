"""What is chosen as a file on the pages, before anything of it is read."""

import tempfile

import panel_material_ui as pmui
import pytest
from panel.models.esm import DataEvent

from playground.errors import UserError
from tests.runs import is_a_sentence
from widgets.app.main import PAGES
from widgets.pages.stage import StagePage
from widgets.state.app import Store
from widgets.state.stage.texts import LONGEST_TEXT
from widgets.state.train.choice import OWN_FILE
from widgets.state.transfer.task_choice import OWN_FILE as OWN_LABELLED_FILE
from widgets.state.uploads import LARGEST_FILE, LARGEST_LABELLED_FILE, LONGEST_NAME, Uploads, safe_name

TROUBLES = {
    "Train": lambda store: store.train.trouble,
    "Transfer": lambda store: store.transfer.trouble,
    "Corpus": lambda store: store.corpus.trouble,
}


def field(store, name):
    """The field for a file of one's own, on a page where that is chosen."""
    store.train.corpus, store.transfer.task, store.corpus.source = OWN_FILE, OWN_LABELLED_FILE, OWN_FILE
    (upload,) = PAGES[name](store).layout.select(pmui.FileInput)
    return upload


@pytest.mark.slow
@pytest.mark.parametrize("name", TROUBLES)
def test_an_empty_file_is_refused_on_every_page_and_another_is_not(store, name):
    trouble = TROUBLES[name]
    upload = field(store, name)
    begun = {"status": "upload_event", "chunk": 1, "total_chunks": 1, "mime_type": "text/plain"}
    for said in ({**begun, "name": "a.txt", "data": b"some text"}, {"status": "finished"}):
        upload._process_event(DataEvent(None, data=said))
    assert "empty" not in trouble(store)
    upload._process_event(DataEvent(None, data={"status": "finished"}))
    assert trouble(store) == "The file is empty; choose a file with text in it."


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary folders are made, empty at first."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def choose(upload, name, content):
    """A person chooses a file."""
    several = upload.multiple
    upload.param.update(filename=[name] if several else name, value=[content] if several else content)


@pytest.mark.parametrize("name", TROUBLES)
def test_an_upload_goes_when_another_takes_its_place_and_with_the_visit(temporary, tmp_path, name):
    store = Store(tmp_path / "runs")
    upload = field(store, name)
    for file in ("first.csv", "second.csv"):
        choose(upload, file, f"text,label\n{file},1\n".encode())
        assert [path.name for path in temporary.rglob("*.csv")] == [file]
    assert len(list(temporary.iterdir())) == 1
    store.close()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", TROUBLES)
def test_a_file_that_is_too_large_is_refused_on_every_page_and_the_one_before_stays(store, temporary, name):
    trouble = TROUBLES[name]
    upload = field(store, name)
    choose(upload, "first.csv", b"text,label\na,1\n")
    most = LARGEST_LABELLED_FILE if name == "Transfer" else LARGEST_FILE
    choose(upload, "second.csv", b"x" * (most + 1))
    assert trouble(store) == f"The file has {most + 1:,} bytes; at most {most:,} are read here."
    assert [path.name for path in temporary.rglob("*.csv")] == ["first.csv"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("../../evil.txt", "evil.txt"),
        ("C:\\folder\\evil.csv", "evil.csv"),
        ("a\0b\n.txt", "ab.txt"),
        ("", "text.txt"),
        ("..", "text.txt"),
        ("/", "text.txt"),
        ("x" * 300 + ".conllu", "x" * (LONGEST_NAME - 7) + ".conllu"),
        ("日" * 300 + ".txt", "日" * (LONGEST_NAME - 4) + ".txt"),
        ("\udcff.txt", ".txt"),
    ],
)
def test_a_name_from_a_browser_is_a_name_on_the_disk(temporary, said, kept):
    assert safe_name(said) == kept
    uploads = Uploads()
    (path,) = uploads.keep([(said, b"some text")])
    assert (path.read_bytes(), path.parent.parent) == (b"some text", temporary)
    uploads.remove()


def test_two_files_of_one_name_are_two_files(temporary):
    uploads = Uploads()
    paths = uploads.keep([("a.txt", b"one"), ("elsewhere/a.txt", b"two"), ("a.txt", b"three")])
    assert [path.read_bytes() for path in paths] == [b"one", b"two", b"three"]
    uploads.remove()
    uploads.remove()
    assert list(temporary.iterdir()) == []


def test_a_disk_that_is_full_is_a_sentence(temporary, monkeypatch):
    monkeypatch.setattr(
        "pathlib.Path.write_bytes", lambda path, content: (_ for _ in ()).throw(OSError(28, "No space"))
    )
    with pytest.raises(UserError) as caught:
        Uploads().keep([("a.txt", b"one")])
    assert is_a_sentence(str(caught.value))
    assert list(temporary.iterdir()) == []


def test_a_box_that_is_full_says_so(store):
    page = StagePage(store.stage).layout
    store.stage.param.update(view="stage", text="word " * (LONGEST_TEXT // 5))
    assert any("2,000 characters" in str(pane.object) for pane in page.select(lambda pane: hasattr(pane, "object")))
