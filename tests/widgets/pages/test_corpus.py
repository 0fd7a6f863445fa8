"""The Corpus page by value: sheets, layers, pieces, uses, and a store that reads in a thread."""

import json
import threading
from itertools import groupby
from pathlib import Path

import panel_material_ui as pmui
import pytest

from playground.corpora import from_pasted, from_table, open_corpus, read_table, read_treebank
from playground.corpora.tinyworld.labels import LABELS, MARKS
from playground.errors import UserError
from playground.tokenizing.vocabulary import SEPARATOR
from tests.runs import becomes, is_a_sentence, tiny
from widgets.pages import corpus as corpus_page
from widgets.state import corpus as reading
from widgets.state.app import Store, Tab
from widgets.state.corpus import CorpusStore, sheets
from widgets.state.job import Job
from widgets.state.train.choice import OPENED, OWN_FILE, OWN_TEXT, load_corpus
from widgets.state.train.store import TrainStore
from widgets.state.uploads import LARGEST_FILE, NO_COLUMN
from widgets.static import corpus_uses, tokens
from widgets.static.annotations import FEW, codes, known, sheet

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
PLAIN = "the old dog saw a cat . it ran away .\n\n" * 40
ROW = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_"
TREE = [("the", "DET", 2, "det"), ("dog", "NOUN", 3, "nsubj"), ("saw", "VERB", 0, "root"), ("it", "PRON", 3, "obj")]


@pytest.fixture(scope="module", autouse=True)
def _no_cache():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", "/dev/null")
        yield


@pytest.fixture(scope="module")
def world():
    return open_corpus("world", tokens=6_000)


@pytest.fixture
def store():
    made = CorpusStore()
    yield made
    made.end()


def write_tree(folder):
    lines = [ROW.format(k, form, pos, head, relation) for k, (form, pos, head, relation) in enumerate(TREE, 1)]
    path = folder / "bank.conllu"
    path.write_text(("# newpar\n" + ("\n".join(lines) + "\n\n") * 2) * 12, encoding="utf-8")
    return path


def write_table(folder, name="films.csv"):
    rows = "".join(f"{k},{'good' if k % 2 else 'bad'},film number {k} was {HOSTILE} !\n" for k in range(40))
    (folder / name).write_text(f"{HOSTILE},mood,text\n{rows}", encoding="utf-8")
    return folder / name


def read(store):
    """What the page's tick does when the thread is done."""
    store.reading.wait()
    store.take()
    return store


# sheets and layers


@pytest.mark.parametrize("text", [PLAIN, "word " * 999 + "\n\n" + PLAIN, "a b c d e f g h i j " * 60])
def test_sheets_cover_every_token_once_and_never_two_documents(text):
    corpus = from_pasted(text)
    spans = sheets(corpus).tolist()
    assert [k for first, last in spans for k in range(first, last)] == list(range(len(corpus)))
    for first, last in spans:
        assert len(set(corpus.document_ids[first:last].tolist())) == 1
        assert 1 <= len(set(corpus.word_ids[first:last].tolist())) <= reading.LONGEST_SHEET
    documents = [
        len(set(corpus.word_ids[corpus.document_ids == d].tolist())) for d in range(int(corpus.document_ids[-1]) + 1)
    ]
    assert len(spans) == sum(-(-words // reading.LONGEST_SHEET) for words in documents)


def test_every_layer_says_of_every_word_what_the_corpus_says(world):
    for first, last in sheets(world).tolist()[:25]:
        shown = sheet(world, first, last)
        positions = [k for k in range(first, last) if world.ids[k] != SEPARATOR]
        assert shown.words == tuple(world.tokenizer.decode(world.ids[positions].tolist()))
        for layer in (layer for layer in shown.layers if layer.style == "bar"):
            said = [""] * len(positions)
            for a, b, value in layer.runs:
                said[a : b + 1] = [value] * (b + 1 - a)
            names = world.label_names[layer.name]
            assert said == [names[v] if v >= 0 else "" for v in world.labels[layer.name][positions].tolist()], (
                layer.name
            )
        for name, value in shown.whole.items():
            assert {world.label_names[name][v] for v in world.labels[name][positions].tolist()} == {value}


def test_brackets_are_the_phrases_and_a_phrase_carries_its_kind(world):
    first, last = sheets(world).tolist()[3]
    positions = [k for k in range(first, last) if world.ids[k] != SEPARATOR]
    layer = next(layer for layer in sheet(world, first, last).layers if layer.name == "phrase")
    groups = [
        list(g)
        for v, g in groupby(range(len(positions)), lambda k: int(world.labels["phrase"][positions[k]]))
        if v >= 0
    ]
    kinds = [world.label_names["phrase_type"][int(world.labels["phrase_type"][positions[g[0]]])] for g in groups]
    assert [(a, b) for a, b, _ in layer.runs] == [(g[0], g[-1]) for g in groups]
    assert [said for _, _, said in layer.runs] == kinds


def test_sentences_begin_where_the_number_changes(world):
    for first, last in sheets(world).tolist()[:10]:
        shown = sheet(world, first, last)
        assert all(shown.words[k - 1] in (".", "?") for k in shown.sentences)
        assert len(shown.sentences) == len(set(world.sentence_ids[first:last].tolist())) - 1


def test_links_go_from_every_word_to_the_word_that_says_the_same():
    corpus = open_corpus("parallel", tokens=3_000)
    for first, last in sheets(corpus).tolist()[:40]:
        shown = sheet(corpus, first, last)
        links = next(layer.links for layer in shown.layers if layer.name == "aligned")
        half = len(shown.words) // 2
        assert shown.language == half
        assert sorted(a for a, _, _ in links) == list(range(half))
        assert sorted(b for _, b, _ in links) == list(range(half, 2 * half))
        pos = corpus.labels["pos"][first:last].tolist()
        assert all(pos[a] == pos[b] for a, b, _ in links)


def test_arcs_go_from_the_head_to_the_word_within_the_sentence(tmp_path):
    corpus = read_treebank(write_tree(tmp_path))
    first, last = sheets(corpus).tolist()[1]
    arcs = next(layer for layer in sheet(corpus, first, last).layers if layer.style == "arc").links
    one = [(1, 0, "det"), (2, 1, "nsubj"), (2, 3, "obj")]
    assert list(arcs) == [*one, *((a + 4, b + 4, relation) for a, b, relation in one)]


def test_the_pieces_of_a_word_are_one_word():
    corpus = from_pasted(PLAIN, kind="character")
    words = sheet(corpus, *sheets(corpus).tolist()[0]).words
    assert words == ("the", "old", "dog", "saw", "a", "cat", ".", "it", "ran", "away", ".")


@pytest.mark.parametrize("column", ["head", "phrase", "aligned", "mention", "relation"])
def test_a_column_of_ones_own_is_a_class_whatever_its_name(tmp_path, column):
    path = tmp_path / "t.csv"
    path.write_text(f"text,{column}\n" + "the dog ran home,yes\nthe cat sat here,no\n" * 30, encoding="utf-8")
    corpus = from_table(read_table(path, label=column))
    shown = sheet(corpus, *sheets(corpus).tolist()[0])
    assert shown.whole == {column: "yes"}
    assert not shown.layers


@pytest.mark.parametrize("values", [*LABELS.values(), *MARKS.values(), ("a", "A", "á", ""), ("x",) * 1])
def test_codes_are_short_and_all_different(values):
    made = codes(values)
    assert len(set(made.values())) == len(set(values))
    assert all(1 <= len(code) <= (2 if len(values) <= FEW else 3) for code in made.values())


def test_the_record_of_a_sheet_is_plain_data(world):
    shown = sheet(world, *sheets(world).tolist()[2])
    record = json.loads(json.dumps(shown.record()))
    assert record["words"] == list(shown.words)
    assert [layer["name"] for layer in record["layers"]] == [layer.name.replace("_", " ") for layer in shown.layers]


# pieces and uses


@pytest.mark.parametrize("kind", ["word", "character", "wordpiece", "bpe", "bytes", "unigram"])
def test_pieces_are_drawn_over_the_very_text(store, kind):
    store.param.update(source=OWN_TEXT, pasted="the café sold über-naïve 42 cakes .\n\n" * 30, kind=kind, size=700)
    store.use()
    read(store)
    store.cut()
    store.cutting.wait()
    cut = store.cutting.result
    found, unknown = tokens.cut(cut.tokenizer, cut.text)
    drawn = tokens.markup(cut.text, found, unknown=unknown).split("</style>")[1]
    assert drawn.count("<span") == len(found)
    assert not unknown
    if kind == "bytes":
        assert found[-1][2] == len(cut.text)
    else:
        covered = "".join(cut.text[a:b] for _, a, b in found)
        assert covered == cut.text.replace(" ", "")


def test_bytes_of_one_letter_are_drawn_as_bytes_and_the_letter_once():
    text = "a € b"
    found = [("a", 0, 1), ("⟨E2⟩", 2, 3), ("⟨82⟩", 2, 3), ("⟨AC⟩", 2, 3), ("b", 4, 5)]
    drawn = tokens.markup(text, found).split("</style>")[1]
    assert drawn.count("€") == 1
    assert "⟨82⟩</span>" in drawn
    assert "⟨AC⟩</span>" in drawn


def test_the_last_merge_is_what_the_tokenizer_gives_and_moving_on_learns_nothing_anew(store):
    store.param.update(source=OWN_TEXT, pasted=PLAIN, kind="bpe", size=120)
    store.use()
    read(store)
    store.cut()
    store.cutting.wait()
    first = store.cutting.result
    found, _ = tokens.cut(first.tokenizer, first.beginning)
    assert [tuple(p[:3]) for p in first.merges[-1]["pieces"]] == found
    store.step(1)
    store.cut()
    store.cutting.wait()
    assert store.cutting.result.tokenizer is first.tokenizer
    store.size = 130
    store.cut()
    store.cutting.wait()
    assert store.cutting.result.tokenizer is not first.tokenizer


def test_what_cannot_be_done_says_why(world):
    own = {name: (can, why) for name, can, why in corpus_uses.verdicts(from_pasted(PLAIN))}
    ours = {name: (can, why) for name, can, why in corpus_uses.verdicts(world)}
    assert all(why for _, why in [*own.values(), *ours.values()])
    assert [name for name, (can, _) in own.items() if can] == [
        "predicting tokens: LM, MLM, PLM, spans, replaced tokens",
        "next sentence and sentence order: NSP, SOP",
    ]
    assert ours["probing for parts of speech"][0]
    assert "pos" in own["probing for parts of speech"][1]


@pytest.mark.parametrize("name", ["parallel", "senses", "facts", "agreement"])
def test_every_use_that_is_granted_has_its_labels(name):
    corpus = open_corpus(name, tokens=2_000)
    granted = {said for said, can, _ in corpus_uses.verdicts(corpus) if can}
    for use in corpus_uses.USES:
        assert (use.name in granted) == set(use.needs).issubset(known(corpus)), use.name
    assert ("translation: TLM" in granted) == (name == "parallel")


def test_text_names_and_columns_are_never_markup(tmp_path, store):
    path = write_table(tmp_path, "x<img src=x onerror=1>.csv")
    store.param.update(source=OWN_FILE, files=[path])
    read(store)
    store.label_column = HOSTILE
    read(store)
    assert "a label" in store.trouble or store.table is not None
    store.label_column = "mood"
    read(store)
    store.use()
    corpus = read(store).corpus
    cut = [(word, 0, len(HOSTILE)) for word in (HOSTILE,)]
    for markup in (
        corpus_page.describe(corpus),
        corpus_page.sample(store.table, labelled=True),
        corpus_uses.markup(corpus),
        tokens.markup(HOSTILE, cut),
        tokens.describe_merge([{"pair": [], "pieces": []}, {"pair": [HOSTILE, HOSTILE], "rank": 0, "pieces": []}], 1),
    ):
        assert "<script" not in markup
        assert "<img" not in markup


# the store


def test_a_source_is_read_in_a_thread_and_can_be_turned_over(store):
    store.source = "reviews"
    assert store.reading.busy
    read(store)
    assert (store.corpus.name, store.sheet_number, store.trouble) == ("reviews", 0, "")
    store.step(-1)
    assert store.span[1] == len(store.corpus)
    store.step(1)
    assert store.span[0] == 0
    store.seed = 5
    at = store.sheet_number
    store.step(1)
    store.seed = 6
    store.seed = 5
    assert store.sheet_number == at


def test_a_table_is_asked_about_before_it_is_used(tmp_path, store):
    store.param.update(source=OWN_FILE, files=[write_table(tmp_path)])
    read(store)
    assert store.corpus is None
    assert (store.table.text_column, store.table.label_column) == ("text", "mood")
    assert "Guessed" in store.table.notice
    store.use()
    assert read(store).corpus.label_names == {"mood": ("bad", "good")}
    store.label_column = NO_COLUMN
    read(store)
    store.use()
    assert not read(store).corpus.labels


def test_a_table_of_pairs_is_shown_and_read_with_both_texts_or_with_one(tmp_path, store):
    path = tmp_path / "pairs.csv"
    rows = [f"it rains {k},it is {w},{k % 2}\n" for k in range(30) for w in ("wet", "dry")]
    path.write_text("premise,hypothesis,label\n" + "".join(rows), encoding="utf-8")
    store.param.update(source=OWN_FILE, files=[path])
    files = corpus_page.Files(store)
    read(store)
    files.offer()
    assert (files.text.value, files.second.value, files.label.value) == ("premise", "hypothesis", "label")
    assert "60 pairs of texts" in files.sample.object and "“it rains 0” / “it is wet” – 0" in files.sample.object
    files.second.value = NO_COLUMN
    assert read(store).table.second_column is None
    assert "1 column is left out: 'hypothesis'." in store.table.notice


def test_columns_that_cannot_be_are_a_sentence_and_the_choice_stays(tmp_path, store):
    store.param.update(source=OWN_FILE, files=[write_table(tmp_path)])
    read(store)
    store.text_column = "mood"
    read(store)
    store.label_column = "mood"
    read(store)
    assert is_a_sentence(store.trouble)
    assert store.table is not None
    store.label_column = NO_COLUMN
    assert read(store).trouble == ""


def test_an_unknown_encoding_is_asked_for(tmp_path, store):
    path = tmp_path / "latin.txt"
    path.write_bytes(("le café est fermé .\n\n" * 40).encode("latin-1"))
    store.param.update(source=OWN_FILE, files=[path])
    read(store)
    assert store.unreadable
    assert is_a_sentence(store.trouble)
    store.encoding = "latin-1"
    read(store)
    assert (store.unreadable, store.trouble) == (False, "")
    assert "café" in sheet(store.corpus, *store.span).words


def test_two_files_are_translations_and_three_are_too_many(tmp_path, store):
    paths = [tmp_path / name for name in ("a.en", "a.fr", "a.de")]
    for path in paths:
        path.write_text("the cat sleeps here .\n" * 40, encoding="utf-8")
    store.param.update(source=OWN_FILE, files=paths[:2])
    assert read(store).corpus.label_names["language"] == ("en", "fr")
    store.files = paths
    assert "3 files" in read(store).trouble
    assert store.corpus.name == "a.en + a.fr", "the last good corpus stays"


def test_too_little_text_is_a_sentence(store):
    store.param.update(source=OWN_TEXT, pasted="too short")
    store.use()
    assert is_a_sentence(read(store).trouble)


def test_uploads_are_kept_apart_from_the_persons_files_and_removed(store):
    store.source = OWN_FILE
    store.keep([("../../evil.txt", PLAIN.encode())])
    path = Path(store.files[0])
    assert path.name == "evil.txt"
    assert read(store).corpus.name == "evil.txt"
    store.keep([("b.txt", PLAIN.encode())])
    assert not path.exists()
    second = Path(store.files[0])
    store.end()
    assert not second.parent.exists()
    store.keep([("c.txt", b"x" * (LARGEST_FILE + 1))])
    assert f"at most {LARGEST_FILE:,}" in store.trouble


def test_only_the_newest_work_counts_and_the_older_is_told_to_stop():
    work, go, stopped = Job("reading"), threading.Event(), threading.Event()

    def slow(hear):
        go.wait(10)
        try:
            hear(1, 2)
        except UserError:
            stopped.set()
            raise

    work.begin(slow)
    thread = work._thread
    work.begin(lambda hear: hear(1, 4) or "new")
    work.wait()
    assert (work.result, work.share, work.busy, work.error) == ("new", 0.25, False, None)
    go.set()
    thread.join(10)
    assert stopped.is_set()
    assert (work.result, work.error) == ("new", None)


def test_a_large_file_says_how_far_it_is(tmp_path, store, monkeypatch):
    path, heard = tmp_path / "large.txt", []
    path.write_text(PLAIN * 900, encoding="utf-8")
    share = property(lambda _: None, lambda _, value: heard.append(value))
    monkeypatch.setattr(Job, "share", share, raising=False)
    store.param.update(source=OWN_FILE, files=[path])
    read(store)
    shares = [share for share in heard if share is not None]
    assert len(shares) > 4
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_an_error_in_the_thread_is_a_sentence():
    work = Job("reading")
    work.begin(lambda hear: {}["nothing"])
    work.wait()
    assert not work.busy
    assert str(work.error).startswith("The reading stopped")
    go = threading.Event()
    work.begin(lambda hear: go.wait(10))
    assert work.error is None, "a job that begins again has no error"
    go.set()
    work.wait()


def test_training_on_the_corpus_on_screen():
    training = TrainStore(corpus=OPENED)
    with pytest.raises(UserError, match="Corpus page"):
        load_corpus(training)
    training.opened = corpus = from_pasted(PLAIN)
    assert load_corpus(training) is corpus


def test_train_on_it_trains_at_once_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("widgets.state.train.choice.entry_named", tiny)
    visit = Store(tmp_path / "runs", page=Tab.CORPUS)
    visit.corpus.param.update(source=OWN_TEXT, pasted=PLAIN)
    visit.corpus.use()
    read(visit.corpus)
    page = corpus_page.CorpusPage(visit)
    layout, tick = page.layout, page.poll
    tick()
    (button,) = (part for part in layout.select() if str(getattr(part, "label", "")).startswith("Train on"))
    button.clicks += 1
    first = visit.train.session
    assert (visit.page, visit.train.corpus, visit.message) == (1, OPENED, "RoBERTa trains on pasted text.")
    assert becomes(lambda: first.learner is not None and first.learner.step > 0)
    button.clicks += 1
    assert first.reason == "asked" and visit.train.session is not first
    assert visit.message == "RoBERTa trains on pasted text. The previous run was stopped and saved."
    visit.close()


# the page


def test_what_could_not_be_read_is_not_offered_under_the_name_of_what_was_there_before(tmp_path):
    store, (bad, good) = Store(), (tmp_path / "latin.txt", tmp_path / "plain.txt")
    bad.write_bytes("le café est fermé ce soir .\n\n".encode("latin-1") * 40)
    good.write_text(PLAIN, encoding="utf-8")
    page = corpus_page.CorpusPage(store)
    layout, tick = page.layout, page.poll
    (button,) = (part for part in layout.select() if str(getattr(part, "label", "")).startswith("Train on"))

    def offered():
        store.corpus.reading.wait()
        tick()
        return button.label, button.disabled

    store.corpus.param.update(source=OWN_FILE, files=[good])
    assert offered() == ("Train on plain.txt", False)
    store.corpus.files = [bad]
    assert offered() == ("Train on it", True)
    assert any("Still showing plain.txt." in str(getattr(part, "object", "")) for part in layout.select())
    store.corpus.encoding = "latin-1"
    assert offered() == ("Train on latin.txt", False)
    store.corpus.files = []
    assert offered() == ("Train on it", True)
    store.corpus.end()


def test_a_long_document_comes_in_parts_and_the_held_out_one_is_named(store):
    store.param.update(source=OWN_TEXT, pasted="word " * 450 + "\n\n" + PLAIN)
    store.use()
    read(store)
    said = []
    for _ in range(len(store.opened.sheets)):
        said.append(corpus_page.where(store))
        store.step(1)
    assert said[:4] == [*(f"document 1 of 41, part {k} of 3" for k in (1, 2, 3)), "document 2 of 41"]
    assert said[-1] == "document 41 of 41 · held out"


def test_the_page_follows_the_store(tmp_path):
    visit, looked = Store(), []
    page = corpus_page.CorpusPage(visit, looking=lambda: bool(looked))
    made, tick = page.layout, page.poll
    tick()
    assert visit.corpus.reading.turn == 0, "nothing is read before somebody looks"
    visit.corpus.param.update(source=OWN_FILE, files=[write_tree(tmp_path)])
    visit.corpus.reading.wait()
    tick()
    pane = next(iter(made.select(corpus_page.DocumentPane)))
    assert pane.record["words"] == [form for form, *_ in TREE] * 2
    assert pane.layers == ["pos", "head"]
    pane.on = ["head"]
    assert visit.corpus.layers == ["head"]
    tick()
    visit.corpus.cutting.wait()
    tick()
    assert any("pieces per word" in str(p.object) for p in made.select(lambda p: hasattr(p, "object")))
    visit.train_on_opened()
    assert (visit.train.corpus, visit.train.opened, visit.page) == (OPENED, visit.corpus.corpus, 1)
    visit.close()


def test_the_merges_are_stepped_through_once_there_is_a_last_one(tmp_path):
    visit = Store(tmp_path / "runs")
    visit.corpus.param.update(source=OWN_TEXT, pasted=PLAIN, kind="bpe", size=120)
    visit.corpus.use()
    visit.corpus.reading.wait()
    page = corpus_page.CorpusPage(visit)
    made, tick = page.layout, page.poll
    tick()
    assert not list(made.select(pmui.IntSlider)), "a slider that is drawn before has an end which is not the last merge"
    tick()
    visit.corpus.cutting.wait()
    tick()
    (slider,) = made.select(pmui.IntSlider)
    assert slider.end == len(visit.corpus.cutting.result.merges) - 1 > 1
    visit.close()


def test_two_phrases_with_one_role_are_two_bars_and_brackets_stand_close():
    corpus = open_corpus("agreement", tokens=3_000)
    shown = [sheet(corpus, *span) for span in sheets(corpus).tolist()]
    for one in shown:
        layers = {layer.name: layer.runs for layer in one.layers}
        phrases = {(a, b) for a, b, _ in layers["phrase"]}
        assert {(a, b) for a, b, _ in layers["role"]} <= phrases
    text = from_pasted(("he said ( to me ) : go ! " * 20) + "\n\n" + PLAIN)
    one = sheet(text, *sheets(text).tolist()[0])
    tight = {(one.words[k - 1], word) for k, word in enumerate(one.words) if one.record()["tight"][k]}
    assert tight == {("(", "to"), ("me", ")"), (")", ":"), ("go", "!")}
