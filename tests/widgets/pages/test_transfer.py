"""What the Transfer page shows beside a plain comparison: families, label curves, tasks in turn, an edited sentence."""

import io
import zipfile
from dataclasses import replace
from itertools import groupby, pairwise
from types import SimpleNamespace

import pytest
import torch

from playground.errors import UserError
from playground.finetuning import TrialEvent, find_strategy, find_task, strategies
from playground.finetuning.comparing.continual import Advanced
from playground.finetuning.run.tune import StepEvent
from playground.finetuning.strategy.strategy import FAMILIES
from playground.training import train
from playground.training.store.metrics import recorded
from playground.training.store.runs import Runs
from tests.runs import becomes, reviews, run_of, tiny
from widgets.charts import label_efficiency, strategies_over_steps
from widgets.lists import strategy_picker
from widgets.pages.transfer import controls
from widgets.pages.transfer import page as page
from widgets.pages.transfer.sentence_editor import picture
from widgets.state.base import NEW, SAME, SECOND, changed
from widgets.state.sentence_editor import SentenceEditorStore, label_of
from widgets.state.transfer.store import MOST_STRATEGIES, TransferStore, base_of_session
from widgets.state.transfer.trials import Trials
from widgets.static import task_sequence
from widgets.static.svg import outcomes


@pytest.fixture(scope="module")
def session():
    from playground.training import Session

    torch.set_num_threads(1)
    made = Session(run_of(entry=tiny(model={"layers": 2}, steps=30), steps=30))
    made.start()
    assert becomes(lambda: made.state == "done")
    return made


def run(store, session, **values):
    store.param.update(**{"train_size": 16, "steps": 6, "seeds": 1, "other_sizes": [], **values})
    assert store.begin(session), store.trouble
    assert becomes(lambda: store.trials.state != "running", 240)


# the list of strategies


def test_every_strategy_stands_once_in_its_family_with_its_purpose_and_its_rate():
    cards = strategy_picker.cards({})
    assert [family for family, _ in groupby(card["group"] for card in cards)] == list(FAMILIES)
    assert sorted(card["name"] for card in cards) == sorted(strategies())
    assert all(card["idea"] and card["source"] and card["shared"] for card in cards)
    rates = {card["name"]: card["rate"] for card in cards}
    assert rates["LoRA"] == (
        "Learning rate 0.01, ours; published 0.0005 (github.com/microsoft/LoRA, examples/NLU, RoBERTa base on MNLI)."
    )
    assert rates["EWC"] == "Learning rate 0.004, ours; no published rate is known."
    assert rates["zero-shot prompting"].startswith("Nothing is trained")


def test_what_was_made_by_hand_stands_first_and_every_chosen_one_has_a_mark_of_its_own():
    own = {"mine": find_strategy("full + L2-SP")}
    assert strategy_picker.cards(own)[0]["group"] == strategy_picker.BY_HAND
    marks = strategy_picker.chooser(MOST_STRATEGIES).marks
    assert len({tuple(mark.items()) for mark in marks}) == MOST_STRATEGIES
    assert marks[1]["colour"] == strategies_over_steps.style(1)[0]
    assert all(a["shape"] != b["shape"] for a, b in pairwise(marks)), "neighbours differ for who sees no colours too"
    dots = {(mark["colour"], mark["shape"]) for mark in marks}
    assert len(dots) == MOST_STRATEGIES, "where no line is drawn the colour and the shape must do"


def test_every_question_names_what_there_is_and_can_be_asked_in_one_step():
    for asked in page.QUESTIONS.values():
        store = TransferStore()
        store.param.update(**page.ASKED | asked)
        assert all(name in strategies() for name in store.chosen)
        assert find_task(store.task)
        assert all(map(find_task, store.then))
        assert {store.train_size, *store.other_sizes} <= set(controls.SIZES)
    names = page.QUESTIONS["Is pre-training worth it?"]["chosen"]
    assert names == ["random start", "full"], "scratch against pre-trained"


def test_where_rates_are_as_published_the_page_says_which_are_not():
    store = TransferStore(lr_policy="published", chosen=["full", "EWC"])
    said = controls.said_of_fairness(store)
    assert "full 2e-05 (github.com/google-research/bert" in said
    assert "Not stated in any source that we found, so ours: EWC 0.004." in said
    store.lr_policy = "own"
    assert "github" not in controls.said_of_fairness(store)


# accuracy against labels


def test_the_label_curve_has_a_dot_for_every_seed_a_band_and_ticks_at_the_counts():
    chart = label_efficiency.label_curve()
    values = {"random start": {16: [0.5, 0.7], 64: [0.6, 0.6]}, "full": {16: [0.9, 1.0]}, "later": {}}
    chart.show(values)
    label_efficiency.reach(chart.figure, (16, 64))
    drawn = {name: source.data for name, source in chart.sources.items()}
    assert len(drawn["seeds"]["labels"]) == 6
    assert drawn["means"]["value"] == pytest.approx([0.6, 0.6, 0.95])
    assert drawn["lines"]["name"] == ["random start", "full"]
    assert max(drawn["lines"]["band"][1]) == 1.0, "no band goes beyond what there can be"
    assert chart.figure.xaxis[0].ticker.ticks == [16, 64]
    assert chart.figure.x_range.start < 16 < 64 < chart.figure.x_range.end


def gap(difference, larger):
    told = {"name": "full", "against": "random start", "difference": difference, "larger": larger}
    return told | {"low": 0.1, "high": 0.3}


def test_the_gaps_stand_below_the_curve_and_only_those_beyond_the_noise_are_bold():
    points = [
        {"labels": 16, "against_first": [gap(0.3, False)]},
        {"labels": 32, "against_first": [gap(0.2, True)]},
    ]
    drawn = label_efficiency.markup(points)
    assert "against random start" in drawn and "16 labelled texts" in drawn
    assert drawn.count("<b>") == 1 and "<b>+0.200</b>" in drawn and "+0.300" in drawn
    assert "(+0.100 to +0.300)" in drawn
    assert label_efficiency.markup([{"labels": 16, "against_first": []}]) == ""


# stopped, gone on with, and more of the same


def fresh(store):
    """The strategies of the trials that were run and not remembered, one for each step."""
    return [
        e.strategy.name for e in store.trials.events if isinstance(e, TrialEvent) and isinstance(e.event, StepEvent)
    ]


@pytest.mark.slow
def test_what_was_stopped_goes_on_with_the_trials_that_are_lacking(session, monkeypatch):
    asked = {"chosen": ["full", "adapters"], "train_size": 16, "steps": 6, "seeds": 2}
    whole, store = TransferStore(**asked), TransferStore(**asked)
    run(whole, session, seeds=2)

    def add_and_stop(trials, event, add=Trials.add):
        add(trials, event)
        if trials.finished:
            trials.state = "stopped"
            store.running.end()

    with monkeypatch.context() as patch:
        patch.setattr(Trials, "add", add_and_stop)
        run(store, session, seeds=2)
    assert (store.trials.state, store.trials.finished) == ("stopped", 1)
    assert store.trials.progress == "Stopped with 1 of 4 trainings done; Compare continues from there."
    run(store, session, seeds=2)
    assert len(fresh(store)) == 6 * 3
    assert store.trials.values("accuracy", store.chosen) == whole.trials.values("accuracy", whole.chosen)
    assert [c.values("loss") for c in store.trials.courses.values()] == [
        c.values("loss") for c in whole.trials.courses.values()
    ]
    store.chosen = ["full", "adapters", "BitFit"]
    run(store, session, seeds=2)
    assert set(fresh(store)) == {"BitFit"}
    run(store, session, seeds=2, steps=7)
    assert set(fresh(store)) == set(store.chosen), "other steps, other numbers: nothing is remembered"


@pytest.mark.slow
def test_trials_side_by_side_have_the_same_numbers_and_are_remembered_like_others(session, monkeypatch):
    monkeypatch.setattr("widgets.state.transfer.store.spare", lambda busy: 2)
    alone, both = (TransferStore(chosen=["full", "adapters"]) for _ in range(2))
    run(alone, session)
    run(both, session, workers=2)
    assert (both.trials.state, both.trouble, both.trials.asked.workers, alone.trials.asked.workers) == (
        "done",
        "",
        2,
        1,
    )
    assert both.trials.asked.command() == alone.trials.asked.command()
    assert {k: pytest.approx(v) for k, v in both.trials.values("accuracy", both.chosen).items()} == alone.trials.values(
        "accuracy", alone.chosen
    )
    assert [c.step for c in both.trials.courses.values()] == [6, 6]
    run(both, session, workers=1)
    assert fresh(both) == []


# other runs: their vectors beside those of the base


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder of two runs."""
    folder = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate(("one", "two")):
        made = run_of(entry=tiny(model={"layers": 2}), steps=3, seed=seed, out=folder / name)
        for _ in Runs(folder).recorded(name, made, recorded(made, train(made))):
            pass
    return folder


def test_vectors_of_kept_runs_stand_beside_those_of_the_base_and_go_along(session, kept, monkeypatch):
    store = TransferStore(kept, chosen=["full"], extra_encoders=["two"])
    assert not store.reads_others and store._others(session.run.device) == {}
    store.chosen = ["static and contextual"]
    run(store, session)
    assert (store.trials.state, store.trouble) == ("done", "")
    assert store.trials.result.outcomes["static and contextual"][0].stored == 2 * (16 + 32 + 16) + 2, (
        "base, static, the other"
    )
    assert "--extra-encoder beside/two" in store.trials.asked.command()
    files = zipfile.ZipFile(io.BytesIO(store.files(outcomes).archive())).namelist()
    assert {"base/checkpoint.safetensors", "beside/two/checkpoint.safetensors"} <= set(files)
    foreign = replace(store.runs.load("two"), tokenizer=SimpleNamespace(words=["quite", "other"]))
    monkeypatch.setattr(store.runs, "load", lambda name, device: foreign)
    assert not store.begin(session)
    assert "beside/two has another vocabulary than the base" in store.trouble


# tasks one after another, and a base that is changed first


def test_tasks_in_turn_show_what_is_left_of_the_first_and_come_as_files(session):
    store = TransferStore(chosen=["full", "adapters"])
    run(store, session, task="sentiment", then=["entailment"])
    assert (store.trials.state, store.trouble, store.trials.done_share) == ("done", "", 1.0)
    assert store.trials.found["tasks"] == ["sentiment", "entailment"]
    told = store.trials._said(Advanced(find_strategy("full"), 0, 1, 3))
    assert told == "full, seed 0: entailment, step 3 of 6."
    assert "--task sentiment --then entailment" in store.trials.asked.command()
    left = task_sequence.first_task(store.trials.passed, store.chosen)
    assert {name: list(steps) for name, steps in left.items()} == {"full": [1, 2], "adapters": [1, 2]}
    assert left["adapters"][1] == left["adapters"][2]
    assert task_sequence.pre_training(store.trials.passed, store.chosen)["adapters"] == {1: [0.0], 2: [0.0]}
    assert task_sequence.markup(store.trials.found).count("0, exactly") >= 1
    files = store.files(outcomes)
    assert b"entailment" in files.file("sequence.html") and b"content hash" in files.file("sequence.html")
    assert b"again_in_turn" in files.file("sequence.ipynb")
    assert files.file("sequence.csv").decode().splitlines()[0] == "strategy,after,task,accuracy"
    with pytest.raises(UserError, match="no finished comparison"):
        store.files(outcomes).file("comparison.csv")
    run(store, session, then=[])
    assert store.trials.result is not None and store.trials.found is None


def test_what_is_no_sequence_is_refused_before_anything_runs(session):
    store = TransferStore(then=["sentiment"])
    assert not store.begin(session)
    assert "A task comes twice" in store.trouble
    store.param.update(then=["entailment"], lr_policy="tuned")
    assert not store.begin(session)
    assert "Tuned rates are not available" in store.trouble


@pytest.mark.slow
def test_a_base_learns_words_first_and_is_kept_for_the_next_comparison(session, monkeypatch):
    monkeypatch.setattr("widgets.state.base.WORD_STEPS", 2)
    store = TransferStore(chosen=["embeddings frozen"], before=SECOND)
    run(store, session, task="sentiment abroad")
    assert (store.trials.state, store.trouble) == ("done", "")
    assert store.trials.base_name.endswith("with words of a second language")
    made = store._made[1]
    before = session.learner.model.token_embedding.num_embeddings
    assert made.model.token_embedding.num_embeddings > before == session.learner.model.token_embedding.num_embeddings
    run(store, session)
    assert store._made[1] is made
    assert store.trials.result is not None


def test_a_decoder_is_added_to_a_copy(session):
    base, words = base_of_session(session)
    for how in (SAME, NEW):
        events = changed(base, words, how)
        with pytest.raises(StopIteration) as end:
            assert not next(events)
        learner = end.value.value[0].learner
        assert learner.model.shape.decoder_layers and not base.learner.model.shape.decoder_layers


def test_what_cannot_be_changed_is_a_sentence(session):
    store = TransferStore(chosen=["full"], before=SAME)
    run(store, session, task="translation")
    assert store.trials.state == "failed"
    assert "vocabulary does not know" in store.trouble


# a sentence that is edited


def test_a_sentence_is_judged_as_it_is_typed_and_says_when_its_label_flips(session, monkeypatch):
    monkeypatch.setattr("widgets.state.sentence_editor.STEPS", 12)
    monkeypatch.setattr("widgets.state.sentence_editor.LABELS", 48)
    monkeypatch.setattr("playground.finetuning.apply.text_editing.LESSONS", 4)
    store = SentenceEditorStore()
    assert picture(store) == ""
    store.teach(None, find_task("sentiment"))
    assert "There is no trained model yet" in store.trouble
    store.teach(session, find_task("sentiment"))
    store.teaching.wait(60)
    assert store.taught is not None and store.taught.editor is not None
    store.take_sample()
    said = store.said
    assert sum(said.chances.values()) == pytest.approx(1.0)
    assert len(said.pieces) == len(said.importance) > 0
    assert store.target_label != label_of(said)
    assert "still is" in picture(store)
    words = [reviews().tokenizer.words[k] for k in range(20, 60)]
    flipped = next((w for w in words if _label(store, f"{w} {w} {w} .") != label_of(store.begun)), None)
    assert flipped is not None, "no word turns the judge"
    store.text = f"{flipped} {flipped} {flipped} ."
    assert "Flipped" in picture(store)
    store.text = f"{flipped} <b>blorb</b> ."
    assert "blorb" in store.said.unknown and "&lt;" in picture(store) and "<b>blorb" not in picture(store)
    store.take_sample()
    store.let_it_edit()
    assert store.edited is not None and store.text == store.edited.after
    store.teaching.end()


def _label(store, text):
    store.text = text
    return label_of(store.said)


def test_who_fills_no_gaps_still_judges_and_says_why_it_does_not_edit(monkeypatch):
    from tests.contracts.test_strategies import base_of as tiny_base
    from widgets.state import sentence_editor

    monkeypatch.setattr("widgets.state.sentence_editor.STEPS", 2)
    monkeypatch.setattr("widgets.state.sentence_editor.LABELS", 16)
    taught = sentence_editor._taught(tiny_base("GPT"), reviews().tokenizer, find_task("sentiment"), lambda *_: None)
    assert taught.editor is None
    assert "needs a masked language model" in taught.why_not
    assert set(taught.judge.assess(["the", "film"]).chances) == {"bad", "good"}
