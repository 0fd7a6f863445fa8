"""Ready-made checkpoints: built once, found by recipe and code, known by their weights, checked by their content."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from playground.errors import UserError
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.report.page import Origin, Report, came_from
from playground.training import Stepped, checkpoint, own_text, train
from playground.training.store import ready_made
from playground.training.store.lock import claimed
from playground.training.store.ready_made import ReadyMade, build, defaults, facts, kept, load, named, weights_hash
from playground.zoo import entries
from playground.zoo.preset import FAST
from tests.runs import learner_of, reviews, run_of, tiny
from widgets import notebook
from widgets.notebook import training
from widgets.state.app import READY, Store
from widgets.state.stage.model import StageModel
from widgets.state.train import saved_runs
from widgets.state.train.store import TrainStore

NOTEBOOK = Path(__file__).parents[4] / "notebooks" / "00_start_here.ipynb"
SMALL = ReadyMade(tiny("GPT"), "reviews")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A cache of the test's own, and a small corpus."""
    monkeypatch.setattr(ready_made, "cache_folder", lambda kind: tmp_path / kind)
    for module in (ready_made, training):
        monkeypatch.setattr(module, "open_corpus", lambda name, tokens=None: reviews())
    monkeypatch.setattr(training, "entry_to_train", lambda name: SMALL.entry)
    monkeypatch.setattr(own_text, "open_saved", lambda name, tokenizer: reviews())
    return tmp_path / "checkpoints"


@pytest.fixture
def built(home):
    list(build(SMALL))
    return home / SMALL.name


def test_it_is_built_once_and_equals_a_run_of_its_recipe(built):
    assert list(build(SMALL)) == []
    begun, *_ = train(run_of(entry=tiny("GPT")))
    assert weights_hash(load(SMALL).learner) == facts(SMALL)["weights"] == weights_hash(begun.learner)
    assert facts(SMALL)["corpus_hash"] == reviews().hash
    assert [run.name for run in kept().all()] == [SMALL.name]


def test_a_build_that_was_cut_off_goes_on_and_ends_the_same(home, built):
    whole = facts(SMALL)["weights"]
    other = ReadyMade(SMALL.entry, "reviews")
    elsewhere = home / "elsewhere"
    events = build(other, elsewhere)
    for event in events:
        if isinstance(event, Stepped) and event.step == 8:
            break
    events.close()
    assert facts(other, elsewhere) is None
    steps = [event.step for event in build(other, elsewhere) if isinstance(event, Stepped)]
    assert 1 < steps[0] <= 9
    assert facts(other, elsewhere)["weights"] == whole


@pytest.mark.parametrize("harm", ["checkpoint.safetensors", "ready.json"])
def test_what_is_damaged_is_not_used_and_is_built_anew(built, harm):
    (built / harm).write_bytes(b"{}")
    assert facts(SMALL) is None
    with pytest.raises(UserError, match="`playground zoo build` builds it"):
        load(SMALL)
    list(build(SMALL))
    assert facts(SMALL) is not None


@pytest.mark.parametrize("other", [
    replace(SMALL, seed=1), replace(SMALL, corpus="world"), replace(SMALL, entry=tiny("BERT")),
    replace(SMALL, entry=tiny("GPT", lr=0.1)), replace(SMALL, entry=tiny("GPT", model={"layers": 2})),
    replace(SMALL, entry=replace(SMALL.entry, objective=tiny("RoBERTa").objective.turn({"mask_ratio": 0.5}))),
])  # fmt: skip
def test_every_part_of_the_recipe_is_in_the_name(other):
    assert other.name != SMALL.name


def test_the_code_is_in_the_name(monkeypatch):
    before = SMALL.name
    monkeypatch.setattr(ready_made, "code_hash", lambda: "other code")
    assert SMALL.name != before


def test_a_folder_that_another_process_writes_is_left_alone(home):
    with claimed(SMALL.folder()) as folder:
        with pytest.raises(UserError, match="is being built by another process"):
            list(build(SMALL))
        assert [each.name for each in folder.iterdir()] == ["writing"]


def test_a_file_is_no_recipe(tmp_path):
    (tmp_path / "text.txt").write_text("a b c", encoding="utf-8")
    with pytest.raises(UserError, match="no corpus named"):
        ready_made.ready_made("GPT", str(tmp_path / "text.txt"))


def test_the_oldest_are_removed(built, monkeypatch):
    monkeypatch.setattr(ready_made, "MOST_KEPT", 2)
    for seed in (1, 2):
        list(build(replace(SMALL, seed=seed)))
    assert [run.seed for run in kept().all()] == [1, 2]
    assert not built.exists()


def test_a_result_says_which_checkpoint_made_it(built):
    learner = load(SMALL).learner
    origin = Origin.of(learner, "reviews", reviews().hash)
    assert origin.checkpoint == named(learner) == SMALL.name
    assert came_from(Report(None, ComparisonSpec(), origin, None))["checkpoint"] == f"ready-made {SMALL.name}"
    assert SMALL.name in StageModel(learner, reviews()).name
    other = learner_of("GPT")
    origin = Origin.of(other, "reviews", reviews().hash)
    assert (
        came_from(Report(None, ComparisonSpec(), origin, None))["checkpoint"] == f"weights {weights_hash(other)[:12]}"
    )


def test_a_notebook_reads_it_and_says_so(built, monkeypatch):
    recipe = {"seq_len": 16, "batch_size": 8}
    made = notebook.train("GPT", "reviews", steps=12, **recipe)
    assert made.learned.checkpoint == SMALL.name
    assert SMALL.name in made._repr_html_()
    assert made.held_out == pytest.approx(facts(SMALL)["held_out"])
    assert notebook.train("GPT", "reviews", steps=12, seed=1, **recipe).learned.checkpoint == ""


def test_the_train_page_opens_it_as_a_run_of_ones_own(built, tmp_path, monkeypatch):
    page = TrainStore(tmp_path / "runs", entry="GPT", corpus="reviews", steps=12)
    assert saved_runs.ready_made_run(page) is None
    monkeypatch.setattr("widgets.state.train.store.shaped", lambda _: SMALL.entry)
    assert saved_runs.ready_made_run(page) == SMALL
    session = saved_runs.open_ready_made(page)
    assert (session.learner.step, page.trouble) == (12, "")
    assert SMALL.name in page.notice
    assert [row.step for row in session.rows if row.loss is not None] == list(range(1, 13))
    assert checkpoint.load(tmp_path / "runs" / SMALL.name).learner.step == 12
    assert session.moments.film
    page.session = None
    saved_runs.open_ready_made(page)
    assert [run.name for run in page.kept()] == [SMALL.name]


def test_the_transfer_page_builds_and_offers_them(home, tmp_path, monkeypatch):
    monkeypatch.setattr("widgets.state.app.defaults", lambda: (SMALL,))
    store = Store(tmp_path / "runs")
    assert store.missing == [SMALL]
    assert not any(base.startswith(READY) for base in store.bases().values())
    store.build_bases()
    store.building.wait()
    assert (store.building.error, store.missing) == (None, [])
    assert store.bases()[f"{SMALL.title}, ready-made"] == f"{READY}:{SMALL.name}"
    store.transfer.base = f"{READY}:{SMALL.name}"
    assert store.base.learner.step == 12


def test_the_defaults_are_what_page_and_notebook_begin_with(monkeypatch, tmp_path):
    page, (on_page, in_notebook, *_) = TrainStore(tmp_path), defaults()
    monkeypatch.setattr(ready_made, "facts", lambda made: {})
    assert saved_runs.ready_made_run(page) == on_page
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    lines = [line.strip() for cell in cells for line in cell["source"]]
    assert f"steps = {in_notebook.steps}" in lines
    assert 'corpus = "world"' in lines
    assert 'model = train("RoBERTa", corpus, steps=steps, seed=seed, device=device, recipe="fast")' in lines
    assert in_notebook.entry == FAST(entries()["RoBERTa"]).turned({"steps": in_notebook.steps})
