"""The Train page's store and pictures: runs that are kept, forked, opened again and compared; no browser."""

import gc
import json
import os
import shlex
import threading
from dataclasses import replace
from functools import partial
from statistics import fmean
from types import SimpleNamespace

import pytest
import torch
from bokeh.models import CrosshairTool
from panel_material_ui.base import MaterialComponent

from playground.analysis import attention_patterns
from playground.analysis.predictions import glance, sentence_of
from playground.cli import main
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.models.groups import layer_groups
from playground.objectives import find_objective
from playground.objectives.choose.order import OrderOverride
from playground.objectives.see.painted import AttentionMaskOverride
from playground.training import Evaluated, Run, Session, Stepped, checkpoint, train
from playground.training.curve import CurvePoint
from playground.training.grad_stats import sizes
from playground.training.loop import prepared
from playground.training.observe import look as sight
from playground.training.observe import replay as moments
from playground.training.observe.look import ProbeSentence
from playground.training.observe.recording import Frame, Measured, Noticed, from_json, to_json
from playground.training.observe.update import look_inside
from playground.training.parallel import extra_seeds as parallel_seeds
from playground.training.parallel.seeds import Finished, Point
from playground.training.store.runs import Runs, command
from tests.runs import alone, becomes, learner_of, reviews, run_of, suited_reviews, tiny
from widgets.animation.replay import page as replay_page
from widgets.charts.attention_history import film_strip
from widgets.charts.chart import Cursor
from widgets.charts.columns import band
from widgets.charts.layer_updates import columns, size_strips
from widgets.pages.train import curves as picture
from widgets.pages.train import page as train_page
from widgets.pages.train import runs as runs_page
from widgets.pages.train.measures import LayerSizes, ProbeCurves
from widgets.pages.train.numbers import numbers
from widgets.pages.train.runs import RunTools, facts_of
from widgets.pages.train.writing import Writing
from widgets.state.app import Store
from widgets.state.train import choice, extra_seeds, forks, rate_search, saved_runs
from widgets.state.train import writing as writing_module
from widgets.state.train.kept_runs import groups, held_out_curves, live, noise, runs_folder, tree
from widgets.state.train.store import TrainStore
from widgets.static import seeds, writing


@pytest.fixture
def store(monkeypatch, tmp_path):
    """A store of tiny runs on the reviews, kept in a folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr(choice, "entry_named", tiny)
    monkeypatch.setattr(choice, "open_corpus", lambda _: reviews())
    monkeypatch.setattr(saved_runs, "corpus_of", lambda _: reviews())
    monkeypatch.setattr(choice, "EVALUATE_EVERY", 4)
    monkeypatch.setattr(choice, "SIZES_EVERY", 4)
    made = TrainStore(tmp_path / "runs", corpus="reviews", steps=12, device="cpu")
    yield made
    made.leave()


def ends(store):
    session = store.session.start()
    assert becomes(lambda: session.state in ("done", "failed"))
    assert session.error == ""
    return session


def taken(store, steps):
    """The session of a store after some steps, resting."""
    session = store.session
    for _ in range(steps):
        step = session.learner.step if session.learner else 0
        session.step()
        assert becomes(lambda step=step: session.learner is not None and session.learner.step > step)
    session.rest()
    return session


def losses_of(session):
    return [row.loss for row in session.rows if row.loss is not None]


# kept


@pytest.mark.slow
def test_a_run_is_kept_and_opened_again_after_its_process_is_gone(store):
    store.begin()
    whole = ends(store)
    store.begin()
    taken(store, 6)
    store.leave()
    first, second = store.kept()
    assert (first.state, second.state, second.step) == ("steps", "asked", 6)
    assert second.out is not None
    folder, name = store.runs.folder, second.name
    store.session = None
    gc.collect()
    later = TrainStore(folder, device="cpu")
    opened = later.open(name)
    assert later.trouble == ""
    assert (opened.state, opened.learner.step, opened.viewer.view.step) == ("ready", 6, 6)
    assert losses_of(opened) == losses_of(whole)[:6]
    assert losses_of(ends(later)) == losses_of(whole), "to the last bit"
    assert [(r.step, r.held_out) for r in saved_runs.curve(later, name)] == [(r.step, r.held_out) for r in opened.rows]
    assert later.runs.find(name).state == "steps"


def evaluated_with(store, objective):
    """A finished run of an objective on the page, and the last evaluation of the same run without a page."""
    entry = alone(find_objective(objective))
    run = Run(entry, suited_reviews(entry.objective), steps=4, evaluate_every=2)
    store.watch(run)
    ends(store)
    return store.session, [e for e in train(run) if isinstance(e, Evaluated)][-1]


@pytest.mark.parametrize(("objective", "several"), [("MLM", False), ("NSP", False), ("MLM + NSP", True)])
def test_the_numbers_tell_the_accuracy_that_the_engine_measured_and_a_kept_run_keeps_it(store, objective, several):
    session, last = evaluated_with(store, objective)
    assert last.accuracy.keys() == set(session.run.entry.objective.target_names)
    for name, share in last.accuracy.items():
        label = f"accuracy, {name}, held out" if several else "accuracy, held out"
        assert f"<b>{share:.1%}</b><span>{label}</span>" in numbers(session)
    assert (
        saved_runs.curve(store, store.name_of_run)[-1].accuracy
        == session.rows[-1].accuracy
        == tuple(last.accuracy.items())
    )


def test_where_no_answer_is_right_or_wrong_no_accuracy_is_shown(store):
    session, last = evaluated_with(store, "GloVe")
    assert last.accuracy == {} and "accuracy" not in numbers(session)
    assert "accuracy" not in numbers(None)
    curve = picture.LossCurve(store, Cursor())
    curve.draw(session)
    assert "held out (squared nats)" in numbers(session) and "(nats)" not in numbers(session)
    assert curve.chart.figure.yaxis.axis_label == "loss (squared nats per position)"
    assert not curve.chart.unigram.visible, "which is in nats"
    assert " squared nats" in runs_page.facts_of(store.runs.all()[0], here=False)


def test_a_reloaded_page_takes_over_the_run_that_still_trains(store):
    store.begin()
    session = taken(store, 2)
    other = TrainStore(store.runs.folder)
    assert other.open(store.name_of_run) is session
    store.leave()
    assert session.state == "paused", "the visit that left no longer ends it"
    other.leave()
    assert session.state == "done"


def test_a_run_is_said_to_be_paused_only_once_its_step_is_done(store, monkeypatch):
    session = store.begin()
    taken(store, 2)
    monkeypatch.setattr(Session, "rests", False)
    assert "<b>pausing</b>" in numbers(session)
    monkeypatch.undo()
    session.rest()
    assert becomes(lambda: "<b>paused</b>" in numbers(session))
    assert f"<b>{session.rows[-1].step} of " in numbers(session)


def test_a_run_that_was_stopped_goes_on_when_it_is_opened_again(store):
    store.begin()
    stopped = taken(store, 3)
    store.end()
    assert (stopped.state, stopped.reason) == ("done", "asked")
    said = f"stopped at step {stopped.learner.step}"
    assert f"<b>{said}</b>" in numbers(stopped)
    assert said in facts_of(store.kept()[-1], here=True)
    opened = store.open(store.name_of_run)
    assert opened is not stopped
    assert (opened.state, opened.learner.step) == ("ready", 3)
    assert ends(store).reason == "steps"


def test_a_run_that_still_saves_its_last_step_is_opened_once_it_is_saved(store, monkeypatch):
    store.begin()
    taken(store, 3)
    saved, save = threading.Event(), checkpoint.save
    monkeypatch.setattr(checkpoint, "save", lambda *given: (saved.wait(60), save(*given)))
    monkeypatch.setattr(Session.stop, "__defaults__", (0.05,))
    store.leave()
    other = TrainStore(store.runs.folder, device="cpu")
    assert other.open(store.name_of_run) is None
    assert "still saving its last step" in other.trouble
    saved.set()
    assert becomes(lambda: other.open(store.name_of_run) is not None)
    assert (other.trouble, other.session.learner.step) == ("", 3)


def test_a_refusal_stands_first_and_marks_the_earlier_run_until_another_begins(store):
    store.begin()
    ends(store)
    earlier, page = store.name_of_run, picture.RunPicture(store)
    store.notice = "an old notice"
    store.param.update(corpus="my own text", pasted="too few words")
    assert store.begin() is None
    page.poll()
    said = page.troubles.text.object
    texts = page.layout.select(type(page.troubles.text))
    assert texts[0] is page.troubles.text, "before the numbers and the curves"
    assert said.startswith('<p class="trouble">There are only 4 tokens in pasted text') and "an old notice" not in said
    numbers = str(page.numbers.object.text)
    assert f"the earlier run, {earlier}" in numbers and "earlier run, finished" in numbers
    store.corpus = "reviews"
    store.begin()
    page.poll()
    assert "earlier" not in page.troubles.text.object + str(page.numbers.object.text)


@pytest.mark.parametrize(("way", "as_file"), [("repeat", False), ("repeat", True), ("mix", False), ("mix", True)])
def test_a_text_that_is_too_short_is_repeated_or_mixed_and_trained_on_with_one_button(store, way, as_file, monkeypatch):
    monkeypatch.setattr(choice, "open_corpus", open_corpus)
    text = "the dog sees the cat . the cat sees a bird . a bird sings ."
    store.param.update(corpus="my own file" if as_file else "my own text", pasted="" if as_file else text)
    if as_file:
        store.keep("small.txt", text.encode())
    troubles = picture.Troubles(store)
    assert store.begin() is None and "at least 64 are needed" in store.trouble
    assert all(button.visible for button in troubles.longer.values())
    troubles.longer[way].param.trigger("clicks")
    session = store.session
    assert becomes(lambda: session.state == "done") and session.error == ""
    assert store.trouble == "" and not any(button.visible for button in troubles.longer.values())
    corpus, window = session.run.corpus, store.chosen.recipe.seq_len
    assert store.notice == corpus.notice and "Training reads 12 of your 17 tokens " in store.notice
    assert session.run.entry.recipe.seq_len == window, "a row can be held out"
    assert corpus.name in {run.corpus for run in store.kept()} and ("mix=everyday" in corpus.name) == (way == "mix")
    if way == "mix":
        ours, others = corpus.sections[0], corpus.sections[1] - corpus.sections[0]
        assert 0.2 < ours / (ours + others) < 0.3, "a row in four is of the own text"
    shown = {k.name for k in store.known_knobs}
    assert shown == {"repeat", "tokenizer"} | ({"mix"} if way == "mix" else set()), "what was done can be turned back"
    store.upload = store.pasted = "another text"
    assert store.corpus_knobs[store.corpus] == {}


def test_a_pasted_text_that_fills_its_box_may_have_been_longer(monkeypatch, store):
    monkeypatch.setattr(choice, "LONGEST_PASTE", 900)
    for text, cut in (("one two three . " * 50, False), ("one two three . " * 60, True)):
        store.param.update(corpus="my own text", pasted=text)
        corpus = choice.load_corpus(store)
        assert ("Of a pasted text the first 900 characters are read" in corpus.notice) == cut
        assert corpus.notice in corpus.description


def test_a_text_without_pairs_is_mixed_and_not_repeated_and_one_without_labels_neither(store, monkeypatch):
    monkeypatch.setattr(choice, "entry_named", lambda name: replace(tiny(), objective=find_objective(name)))
    text = "the dog sees the cat. the cat sees a bird. "
    for entry, pasted, ways in (("NSP", text, {"mix"}), ("NSP", text * 9, {"mix"}), ("TLM", text, set())):
        store.param.update(corpus="my own text", entry=entry, pasted=pasted)
        assert store.begin() is None and store.trouble and set(store.longer) == ways
    store.param.update(entry="NSP", pasted=text * 9)
    store.begin()
    store.lengthen("mix")
    session = store.session
    assert becomes(lambda: session.state == "done") and (session.error, store.trouble) == ("", "")
    assert session.run.corpus.name == "pasted text(mix=everyday)"


def test_a_name_is_used_once_and_an_unused_folder_goes(store):
    store.begin()
    first = store.session.run.out
    assert first.is_dir()
    store.begin()
    assert not first.exists() or store.session.run.out == first
    assert len(list(store.runs.folder.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_a_temporary_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    runs_folder.cache_clear()
    assert runs_folder() == tmp_path / "runs"
    runs_folder.cache_clear()
    (tmp_path / "runs").rmdir()
    (tmp_path / "runs").write_text("a file is in the way")
    elsewhere = runs_folder()
    assert elsewhere != tmp_path / "runs" and elsewhere.is_dir()
    runs_folder.cache_clear()


def story_of(session):
    """The story as it would be written; two looks at the same model are equal when they read the same."""
    return [to_json(moment) for moment in session.moments.every]


def test_gauges_bookmarks_film_and_sizes_are_there_again_when_a_run_is_opened(store, monkeypatch):
    monkeypatch.setattr(attention_patterns, "NOTABLE", 0.0)  # tiny models learn no pattern, so every one counts
    monkeypatch.setattr(attention_patterns, "CLEARLY", 0.0)
    store.begin()
    taken(store, 10)
    whole, name = store.session, store.name_of_run
    store.leave()
    assert (
        len(whole.moments.measured) == 2
        and whole.moments.noticed
        and len(whole.moments.sizes) == 2
        and len(whole.moments.film) > 3
    )
    store.session = None
    later = TrainStore(store.runs.folder, device="cpu")
    opened = later.open(name)
    assert later.trouble == ""
    assert story_of(opened) == story_of(whole)
    assert opened.moments.film[1][1].weights["encoder"].equal(whole.moments.film[1][1].weights["encoder"])
    assert opened.moments.noticed == whole.moments.noticed
    loss_curve, probes, sizes = (
        picture.LossCurve(later, Cursor()),
        ProbeCurves(later, Cursor()),
        LayerSizes(later, Cursor()),
    )
    loss_curve.draw(opened)
    probes.poll()
    sizes.poll()
    drawn = probes.probes.sources["means"].data
    assert (drawn["name"], drawn["step"]) == (["polarity"] * 2, [0, 8])
    assert sizes.sizes().source.data == columns(whole.moments.sizes)
    assert list(loss_curve.chart.marks.data["step"]) == [n.step for n in whole.moments.noticed]
    ends(later)
    assert [m.step for m in opened.moments.measured] == [0, 8]
    steps = [step for step, _ in opened.moments.film]
    assert steps == sorted(set(steps)), "no moment comes twice"
    again = saved_runs.past(TrainStore(store.runs.folder), name).moments
    assert [to_json(m) for m in again] == story_of(opened)


def test_a_fork_remembers_the_story_of_the_run_that_it_left(store):
    store.begin()
    ends(store)
    whole = store.session
    forked = forks.fork_run(store, {"steps": 14}, 8)
    assert becomes(lambda: forked.state == "done")
    assert [m.step for m in forked.moments.measured] == [0, 8]
    assert [s.step for s in forked.moments.sizes] == [4, 8, 12]
    assert [to_json(m) for m in saved_runs.past(store, store.name_of_run).moments] == story_of(forked)
    before = [to_json(moment) for moment in whole.moments.every if moment.step <= 8]
    assert story_of(forked)[: len(before)] == before


def test_a_moment_of_another_version_is_left_out():
    assert from_json("noticed", '{"step": 3, "habit": {"pattern": "forgotten"}}') is None
    assert from_json("weather", "{}") is None


# forks


def test_a_fork_stands_in_the_tree_with_what_changed(store):
    store.begin()
    taken(store, 5)
    parent, name = store.session, store.name_of_run
    assert forks.would_change(store, {"lr": 0.002, "seed": 3}) == "lr 0.006 → 0.002, seed 0 → 3"
    forked = forks.fork_run(store, {"lr": 0.002})
    assert parent.state == "done"
    assert becomes(lambda: forked.state == "done")
    assert losses_of(forked)[:5] == losses_of(parent)
    assert forked.learner.step == 12
    (_, old), (depth, new) = tree(store.kept())
    assert (depth, new.parent, new.forked_at, new.changed) == (1, name, 5, "lr 0.006 → 0.002")
    assert old.name == name
    assert [r.step for r in saved_runs.curve(store, new.name) if r.loss is not None] == list(range(1, 13))


def test_a_fork_from_an_earlier_checkpoint_and_of_a_run_that_is_over(store):
    store.begin()
    ends(store)
    assert forks.fork_run(store, {}) is None
    assert store.kept() and "more steps" in store.trouble, "also once the list of runs was read"
    forked = forks.fork_run(store, {"steps": 20}, 8)
    assert store.trouble == ""
    assert becomes(lambda: forked.state == "done")
    assert (store.kept()[-1].forked_at, forked.learner.step) == (8, 20)
    assert forks.fork_run(store, {"steps": 30}, 3) is None
    assert "kept nothing of step 3" in store.trouble


def test_the_step_of_a_fork_is_a_value_whatever_its_label_says(store):
    store.begin()
    ends(store)
    edits = followed(runs_page.HyperparameterEdits(store))
    (step, *_) = [step for step in edits.forked_at.options.values() if step]
    edits.forked_at.options = {"ici": None, f"à l'étape {step}": step}
    edits.forked_at.value = step
    edits._fork()
    assert store.trouble == "" and f"-at{step}" in store.name_of_run


def test_the_rate_is_changed_while_it_trains_and_what_needs_a_fork_says_so(store):
    store.begin()
    session = taken(store, 2)
    assert forks.change(store, {"lr": 0.001}) == "lr 0.006 → 0.001"
    taken(store, 2)
    assert session.learner.entry.recipe.lr == 0.001
    assert forks.change(store, {"batch_size": 4}) is None
    assert "fork it instead" in store.trouble
    assert session.state == "paused"


def test_numbers_that_are_lost_come_with_a_fork(store):
    store.settings = {"lr": 1.0, "muon_lr": 1.0, "grad_clip": 0.0}
    store.begin()
    taken(store, 3)
    with torch.no_grad():
        next(store.session.learner.model.parameters()).fill_(float("nan"))
    session = ends(store)
    assert (session.reason, session.trouble.kind) == ("diverged", "numbers")
    settings = picture.way_out(session)
    assert settings["lr"] == pytest.approx(1 / 3)
    assert settings["grad_clip"] == 1.0
    assert session.learner.sound(torch.zeros(()))
    forked = forks.fork_run(store, settings)
    assert becomes(lambda: forked.state == "done")
    assert "lr 1 → 0.333" in store.kept()[-1].changed


# several seeds, comparison


@pytest.mark.slow
def test_seeds_train_beside_each_other_wait_together_and_are_one_group(store):
    """It waits for worker processes, which take some seconds to begin."""
    store.param.update(seeds=3, steps=8)
    session = store.begin()
    siblings = extra_seeds.siblings(store)
    assert (siblings.seeds, siblings.state) == ((1, 2), "ready")
    assert "Seeds 1 and 2 will train alongside this one" in seeds.describe_seeds(siblings, (), 8)
    session.start()
    extra_seeds.advance(store)
    assert becomes(lambda: max(siblings.steps.values()) > 0 or siblings.state == "done"), siblings.error
    ends(store)
    siblings._thread.join(60)
    assert (siblings.error, siblings.finished) == ("", [1, 2])
    ((name, some),) = groups(store.kept()).items()
    assert name.endswith("and 2 more seeds")
    assert [run.seed for run in sorted(some, key=lambda run: run.seed)] == [0, 1, 2]
    curves = held_out_curves(partial(saved_runs.curve, store), some)
    assert set(curves) == {0, 4, 8} and all(len(values) == 3 for values in curves.values())
    drawn = band(session.rows, siblings.bands(session.rows))
    assert drawn["step"] == [0, 4, 8]
    assert (drawn["low"][2] + drawn["high"][2]) / 2 == pytest.approx(fmean(curves[8]))
    assert "Held out over 3 seeds at step 8" in seeds.describe_seeds(siblings, siblings.bands(session.rows), 8)
    assert " --seeds 3</code>" in followed(runs_page.RunList(store, Cursor())).again.object
    assert noise(groups(store.kept())) == ""
    steps = {kind: [m.step for m in session.moments.every if isinstance(m, kind)] for kind in (Measured, Frame)}
    for other in (run for run in some if run.seed):
        moments = saved_runs.past(store, other.name).moments
        assert [m.step for m in moments if isinstance(m, Measured)] == steps[Measured] == [0, 8]
        marked = {m.step for m in (*moments, *session.moments.every) if isinstance(m, Noticed)}
        assert {m.step for m in moments if isinstance(m, Frame)} - marked == set(steps[Frame]) - marked
        assert store.open(other.name).film, "its film is there when it is opened"


def test_other_seeds_that_fail_are_said_in_red_and_in_the_log_and_trained_again(store, monkeypatch, caplog):
    seen = []

    def failing(run, seeds, *_, observer):
        seen.append(tuple(seeds))
        for seed in seeds:
            yield Point(seed, CurvePoint(4, None, 2.0, 0, 0.0))
            if len(seen) == 1 and seed == 2:
                raise RuntimeError("dictionary changed size")
            yield Finished(seed, {})

    monkeypatch.setattr(parallel_seeds, "train_seeds", failing)
    store.param.update(seeds=4, steps=4)
    store.begin()
    siblings, troubles = extra_seeds.siblings(store), picture.Troubles(store)
    ends(store)
    extra_seeds.advance(store)
    siblings._thread.join(20)
    troubles.poll()
    assert '<p class="trouble">The other seeds stopped: RuntimeError: dictionary changed' in troubles.text.object
    assert "Traceback" in caplog.text and "RuntimeError: dictionary changed size" in caplog.text
    assert troubles.again.visible and seeds.describe_seeds(siblings, (), 4) == ""
    troubles.again.param.trigger("clicks")
    siblings._thread.join(20)
    troubles.poll()
    assert (siblings.state, siblings.error, seen) == ("done", "", [(1, 2, 3), (2, 3)])
    assert sorted(siblings.finished) == [1, 2, 3] == sorted(point.seed for point in siblings.evaluated)
    assert (troubles.text.object, troubles.again.visible) == ("", False)


@pytest.mark.slow
def test_seeds_that_are_stopped_leave_their_processes(store):
    store.param.update(seeds=2, steps=5000)
    session = store.begin().start()
    siblings = extra_seeds.siblings(store)
    extra_seeds.advance(store)
    assert becomes(lambda: siblings.steps[1] > 3), siblings.error
    session.pause()
    extra_seeds.advance(store)
    assert siblings.state == "paused"
    assert becomes(lambda: not becomes(lambda at=siblings.steps[1]: siblings.steps[1] > at, 0.4), 10), "all wait"
    session.start()
    extra_seeds.advance(store)
    at = siblings.steps[1]
    assert becomes(lambda: siblings.steps[1] > at, 10), "and go on"
    store.end()
    siblings._thread.join(20)
    assert (siblings.state, siblings.error, siblings.finished) == ("done", "", [])
    assert {run.state for run in store.kept()} == {"asked"}


def kept_run(run, name, seed, held_out, **others):
    return replace(run, name=name, seed=seed, held_out=held_out, **others)


def test_one_seed_says_nothing_and_clear_gaps_are_larger_than_the_noise(store):
    store.param.update(steps=1)
    store.begin()
    ends(store)
    run = store.kept()[0]
    slow = [kept_run(run, f"slow{s}", s, 3.0 + s / 10) for s in range(3)]
    fast = [kept_run(run, f"fast{s}", s, 2.0 + s / 10 + s / 1000, settings={"recipe": {}}) for s in range(3)]
    assert "two seeds" in noise(groups([slow[0], fast[0]]))
    said = noise(groups([*slow, *fast]))
    assert "fast0 and 2 more seeds leads slow0 and 2 more seeds by 0.999 on average over 3 seeds" in said
    assert "larger than the noise" in said
    mixed = [replace(r, held_out=3.0 + 0.3 * (-1) ** r.seed) for r in fast]
    assert "within the noise" in noise(groups([*slow, *mixed]))


# the search for a rate


def test_the_search_suggests_a_rate_and_leaves_the_run_as_it_was(store, monkeypatch):
    monkeypatch.setattr(rate_search, "TRIES", 12)
    store.begin()
    session = taken(store, 3)
    before = {name: value.clone() for name, value in session.learner.model.state_dict().items()}
    rate_search.look_for_rate(store)
    store.search.wait()
    found = store.search.result
    assert store.search.error is None
    assert found.rate in [t.rate for t in store.tried]
    assert session.learner.step == 3
    assert all(torch.equal(value, before[name]) for name, value in session.learner.model.state_dict().items())


# inside the layers, the film


def test_a_measured_step_has_the_sizes_of_the_look_inside_and_trains_the_same():
    run = run_of(steps=6)
    plain, measured = list(train(run)), list(train(replace(run, sizes_every=3)))
    steps = [e for e in measured if isinstance(e, Stepped)]
    assert [float(e.loss) for e in steps] == [float(e.loss) for e in plain if isinstance(e, Stepped)]
    assert [bool(e.sizes) for e in steps] == [False, False, True, False, False, True]
    course = prepared(run)
    for _ in range(2):
        list(course.step())
    assert look_inside(course.learner, course.blocks.feed).groups == steps[2].sizes


def test_sizes_are_those_of_the_parameters():
    course = prepared(run_of())
    model = course.learner.model
    with sizes(model) as found:
        for parameter in model.parameters():
            parameter.data += 1.0
    assert [g.name for g in found] == list(layer_groups(model))
    for group, names in zip(found, layer_groups(model).values(), strict=True):
        cells = sum(dict(model.named_parameters())[n].numel() for n in names)
        assert group.change == pytest.approx(cells**0.5, rel=1e-4)
        assert group.gradient == 0.0


def test_a_film_has_few_moments_and_is_drawn(store):
    store.param.update(steps=40)
    store.begin()
    session = ends(store)
    steps = [step for step, _ in session.moments.film]
    assert steps[0] == 0 and steps[-1] == 40 and steps == sorted(set(steps)) and len(steps) <= 12 + 7
    assert all(step == glance.step for step, glance in session.moments.film)
    strip = film_strip()
    strip.show(session.moments.film, "encoder", 0, 1, steps[3])
    assert strip.sources["frames"].data["step"] == steps
    assert [k for k, wide in enumerate(strip.sources["frames"].data["line"]) if wide > 1] == [3]
    strips = size_strips(strip.figure.x_range, Cursor())
    strips.extend(session.moments.sizes, 4)
    assert strips.source.data == columns(session.moments.sizes)
    assert set(strips.source.data["step"]) == set(range(4, 41, 4))


BY_HAND = (AttentionMaskOverride("query", opens=(0,)), OrderOverride((3, 1, 2)))


@pytest.mark.parametrize(("name", "rules"), [("PLM", BY_HAND), ("LM", ())])
def test_the_printed_command_gives_the_numbers_of_the_page_to_the_last_digit(
    tmp_path, capsys, monkeypatch, name, rules
):
    monkeypatch.chdir(tmp_path)
    store = TrainStore(tmp_path / "runs")
    store.param.update(entry=name, steps=6, seed=3, shapes={name: {"width": 32}})
    store.mask_overrides = rules
    if name == "LM":
        store.param.update(
            corpus="my own text", pasted="The dog sees the cat.\r\nA bird sings in the rain.\n\nA zebra."
        )
        store.begin()
        store.corpus_knobs |= {"my own text": vars(store.longer["mix"])}
        (tmp_path / "pasted text.txt").write_text(store.pasted, encoding="utf-8")
    store.begin()
    here = ends(store)
    words = shlex.split(command(here.run))
    listed = facts_of(store.runs.find(store.name_of_run), here=True)
    assert ("With a mask by hand: every position of the query stream may also see itself." in listed) == bool(rules)
    assert words[:3] == ["playground", "train", name] and "width=32" in words
    capsys.readouterr()
    assert main([*words[1:], "--json", "--device", "cpu", "--out", str(tmp_path / "again")]) == 0
    there = json.loads(capsys.readouterr().out)
    store.leave()
    assert there["loss"]["held_out"] == next(row.held_out for row in reversed(here.rows) if row.held_out is not None)


# the page


def test_a_frame_of_the_film_is_the_moment_of_the_whole_page(store):
    store.param.update(steps=8)
    store.begin()
    session = ends(store)
    drawn = picture.RunPicture(store)
    drawn.poll()
    step, then = session.moments.film[2]
    drawn.head._tap(SimpleNamespace(x=2.4))
    drawn.poll()
    assert store.moment == step and drawn.view is then and f"step {step};" in drawn.head.caption.object.text
    assert (drawn.loss.chart.moment.location, drawn.loss.chart.moment.visible) == (step, True)
    store.axis = "tokens read"
    assert not drawn.loss.chart.moment.visible, "over tokens a step has no place"
    drawn.head.now.clicks += 1
    drawn.poll()
    assert store.moment is None and drawn.view is session.viewer.view


@pytest.mark.slow
def test_the_page_follows_a_run_a_fork_and_a_search(store, monkeypatch):
    monkeypatch.setattr(rate_search, "TRIES", 10)
    tick = train_page.TrainPage(store, slow=lambda: None).poll
    tick()
    store.begin()
    ends(store)
    tick()
    assert forks.fork_run(store, {"steps": 16, "lr": 0.001}) is not None
    ends(store)
    tick()
    rate_search.look_for_rate(store)
    store.search.wait()
    tick()
    assert store.trouble == ""


def test_one_cursor_stands_in_every_chart_over_steps(store):
    drawn = picture.RunPicture(store)
    probes, layers, runs = (drawn.tools.parts[name]() for name in ("Probes", "Layers", "Runs"))
    over_steps = (drawn.loss.chart, probes.probes, probes.regret(), runs.chart())
    charts = [*(each.figure for each in over_steps), *layers.sizes().figures]

    def linked() -> list[bool]:
        lines = [[t.overlay for t in one.tools if isinstance(t, CrosshairTool)] for one in charts]
        return [line == [drawn.cursor.line] for line in lines]

    assert all(linked())
    store.axis = "tokens read"
    assert linked() == [False, *[True] * (len(charts) - 1)], "what is drawn over tokens has no place for a step"
    store.axis = "steps"
    assert all(linked())


def test_the_tools_list_compare_and_fork(store):
    store.begin()
    taken(store, 4)
    tools = RunTools(store, Cursor())
    runs, change, rates = (tools.parts[name]() for name in ("Runs", "Hyperparameters and forks", "Learning rate"))

    def look() -> None:
        for number in range(len(tools.parts)):
            tools.layout.active = number
            tools.poll()

    look()
    change.fields["lr"].value = 0.002
    look()
    assert "lr 0.006 → 0.002" in change.text.object
    assert (change.now.disabled, change.fork.disabled, rates.use.disabled) == (False, False, True)
    change.fork.clicks += 1
    assert becomes(lambda: store.session.state == "done")
    runs.read_at = 0.0
    look()
    first, second = runs.lines.values()
    assert (first.tick.disabled, second.tick.disabled) == (False, True)
    assert "lr 0.006 → 0.002" in second.facts.object
    first.tick.value = second.tick.value = True
    runs.read_at = 0.0
    look()
    assert runs.compared.visible and set(runs.chart().sources["means"].data["name"]) == {
        first.tick.label,
        second.tick.label,
    }
    assert len(runs.chart().sources["lines"].data["xs"]) == 2 and "two seeds" in runs.noise.object
    change.preset.value = "paper"
    assert change.fields["optimiser"].value == "adamw"
    assert not list(first.layout.select(MaterialComponent)), "thirty lines of the library's take a browser ten seconds"
    second.tick.value = False
    first.tick.opened += 1
    assert store.name_of_run == first.tick.label


def test_slow_pauses_and_opens_the_coming_update_on_the_stage(tmp_path):
    visit = Store(tmp_path / "runs", page=1)
    session = Session(run_of("RoBERTa", steps=1000)).start()
    visit.train.session = session
    assert becomes(lambda: session.learner is not None and session.learner.step > 1)
    visit.slow()
    assert (visit.page, session.state) == (0, "paused")
    assert visit.stage.inside["title"] == f"Inside update {session.learner.step + 1}"
    assert f"is paused at step {session.learner.step}; this is its next update" in visit.message
    visit.close()


def test_runs_of_another_program_are_refused_while_they_go_on(store):
    store.begin()
    session = taken(store, 1)
    name = store.name_of_run
    live.pop(session.run.out)
    other = TrainStore(store.runs.folder)
    assert other.open(name) is None
    assert "another program" in other.trouble
    assert Runs(store.runs.folder).find(name).state == "running"


@pytest.mark.slow
def test_what_is_off_screen_is_not_drawn_and_catches_up_when_it_is_seen(store):
    drawn = picture.RunPicture(store)
    store.steps = 20_000
    session = store.begin()
    taken(store, 2)
    session.start()
    marks = (drawn.words, drawn.head.mark, drawn.loss.mark)
    try:
        assert becomes(lambda: follows(drawn, session) and drawn.head.drawn[0] is not None), "the first is drawn"
        for mark in marks:
            mark.seen = False
        session.viewer._watched_until = 0.0
        points, seen, at = (
            len(drawn.loss.chart.questions[0].training.data["step"]),
            drawn.head.drawn[0],
            session.rows[-1].step,
        )
        assert becomes(lambda: follows(drawn, session) and session.rows[-1].step > at + 20)
        assert (len(drawn.loss.chart.questions[0].training.data["step"]), drawn.head.drawn[0]) == (points, seen)
        assert not session.viewer.watched, "nobody looks at the model for nobody"
        for mark in marks:
            mark.seen = True
        assert becomes(lambda: follows(drawn, session) and drawn.head.drawn[0] is not seen)
        there = list(drawn.loss.chart.questions[0].training.data["step"])
        assert len(there) > points and there == list(range(1, len(there) + 1))
    finally:
        session.stop()


def follows(drawn, session):
    """The page's tick, as often as it may draw."""
    drawn.drawing._latest = 0.0
    drawn.poll()
    return session.state == "running"


def test_a_click_shows_at_once_what_can_be_pressed_now_whatever_drawing_costs(store):
    buttons = train_page.RunButtons(store)
    store.begin()
    buttons.train.clicks += 1
    assert buttons.train.disabled and not buttons.pause.disabled and not buttons.stop.disabled
    trains = store.session
    buttons.train.clicks += 1
    assert store.session is trains, "pressed before the browser knew that it trains, it begins no other run"
    buttons.pause.clicks += 1
    assert not buttons.train.disabled and buttons.train.label == "Resume"
    buttons.stop.clicks += 1
    assert becomes(lambda: store.session.state == "done")


def test_the_sentence_is_asked_once_unless_a_generator_asks_it(store):
    for name, often in (("RoBERTa", 1), ("ELECTRA", 3)):
        learner, asked = learner_of(name), []
        look = ProbeSentence(sentence_of(reviews()))
        with pytest.MonkeyPatch.context() as patch:
            real = sight.watched
            patch.setattr(sight, "watched", lambda *args, real=real, asked=asked: (asked.append(1), real(*args))[1])
            looks = [look(learner) for _ in range(3)]
        assert len(asked) == often
        again = glance(learner.model, learner.objective, learner.step, sentence_of(reviews()))
        assert looks[2].guesses == again.guesses


# the list: search, titles, what is deleted; the replay


def followed(runs):
    """The list as the page draws it now."""
    runs.read_at = 0.0
    runs.poll()
    return runs


def some_runs(store, number):
    """So many finished runs, the last one on screen."""
    for seed in range(number):
        store.seed = seed
        store.begin()
        ends(store)
    return [run.name for run in store.kept()]


@pytest.mark.slow
def test_runs_are_searched_and_older_ones_come_when_they_are_asked_for(store, monkeypatch):
    monkeypatch.setattr(runs_page, "LISTED", 2)
    first, second, third = some_runs(store, 3)
    runs = followed(runs_page.RunList(store, Cursor()))
    assert list(runs.lines) == [third, second]
    assert (runs.older.visible, runs.older.label) == (True, "Show older runs (1 more)")
    runs.older.clicks += 1
    followed(runs)
    assert list(runs.lines) == [third, second, first] and not runs.older.visible
    runs.search.value_input = "BERT seed0"
    followed(runs)
    assert list(runs.lines) == [first]
    runs.lines[first].tick.value = True
    runs.search.value_input = "nothing like that"
    followed(runs)
    assert list(runs.lines) == [first], "what is ticked stays"
    runs.lines[first].tick.value = False
    assert list(followed(runs).lines) == []
    assert runs.search.visible and not runs.none.object


def test_a_run_is_renamed_in_the_list_and_found_and_compared_by_its_title(store):
    first, second = some_runs(store, 2)
    runs = followed(runs_page.RunList(store, Cursor()))
    runs.lines[first].tick.value = True
    followed(runs)
    ticked = runs.ticked
    assert ticked.layout.visible and not ticked.rename.disabled
    ticked.rename.clicks += 1
    assert (ticked.title.visible, ticked.title.value) == (True, first)
    ticked.title.value = "the first try"
    followed(runs)
    assert (store.kept()[0].title, runs.lines[first].tick.label) == ("the first try", "the first try")
    assert first in runs.lines[first].facts.object, "its name is shown too"
    assert list(runs.chart().sources["means"].data["name"])[:1] == ["the first try"]
    runs.search.value_input = "FIRST try"
    assert list(followed(runs).lines) == [first]
    saved_runs.rename(store, second, "the first try")
    assert list(groups(store.kept())) == ["the first try and 1 more seed"]
    several = groups([replace(run, seed=0) for run in store.kept()])
    assert list(several) == [f"the first try ({first})", f"the first try ({second})"]


@pytest.mark.slow
def test_runs_are_deleted_after_a_question_and_never_the_one_on_screen_or_one_that_trains(store):
    first, second = some_runs(store, 2)
    store.open(first)
    forked = forks.fork_run(store, {"steps": 20}, 8)
    assert becomes(lambda: forked.state == "done")
    curve = [(r.step, r.loss, r.held_out) for r in saved_runs.curve(store, store.name_of_run)]
    runs = followed(runs_page.RunList(store, Cursor()))
    for name in (first, second):
        runs.lines[name].tick.value = True
    followed(runs)
    ticked = runs.ticked
    ticked.delete.clicks += 1
    assert f"Delete {second}, {first} with all checkpoints?" in ticked.asked.object
    assert f"{store.name_of_run} left them and can still be used" in ticked.asked.object
    assert [run.name for run in store.kept()][:2] == [first, second], "nothing is gone before the answer"
    ticked.keep.clicks += 1
    assert not ticked.question.visible and len(store.kept()) == 3
    ticked.delete.clicks += 1
    ticked.sure.clicks += 1
    assert (store.trouble, [run.name for run in store.kept()]) == ("", [store.name_of_run])
    assert not (store.runs.folder / first).exists()
    assert [(r.step, r.loss, r.held_out) for r in saved_runs.curve(store, store.name_of_run)] == curve
    followed(runs)
    assert not ticked.layout.visible
    saved_runs.delete(store, [store.name_of_run])
    assert "is on screen; open another run, or press Reset" in store.trouble
    name = store.name_of_run
    store.begin()
    taken(store, 1)
    other = TrainStore(store.runs.folder, device="cpu")
    saved_runs.delete(other, [store.name_of_run])
    assert "is open in another visit" in other.trouble
    saved_runs.delete(other, [name])
    assert (other.trouble, len(store.kept())) == ("", 1)


def test_knobs_that_are_turned_are_listed_with_a_run_and_the_others_are_folded_away(store):
    store.settings = {"lr": 0.003}
    store.brought = {"RoBERTa": {"mask_replace_prob": 0.5}}
    store.begin()
    ends(store)
    (line,) = followed(runs_page.RunList(store, Cursor())).lines.values()
    assert "objective: mask_replace_prob 0.5" in line.facts.object.split("<details>")[0]
    assert "recipe: " in line.facts.object and "lr 0.003" in line.facts.object.split("<details>")[0]
    assert "<summary class='quiet'>all knobs</summary>" in line.facts.object


def test_a_run_that_fails_is_listed_with_its_reason_and_can_be_opened_again(store, monkeypatch):
    store.begin()
    session = taken(store, 9)
    monkeypatch.setattr(session, "_read", lambda _: 1 / 0)
    session.start()
    assert becomes(lambda: session.state == "failed")
    assert becomes(lambda: store.kept()[0].state == "failed")
    (line,) = followed(runs_page.RunList(store, Cursor())).lines.values()
    assert "failed at step 9" in line.facts.object and "division by zero" in line.facts.object
    assert not line.tick.disabled
    assert store.open(store.name_of_run).learner.step >= 8


def test_a_run_of_the_page_is_baked_also_after_it_was_stopped(store, tmp_path, capsys):
    store.begin()
    session = taken(store, 5)
    store.leave()
    name = store.name_of_run
    page = tmp_path / "run.html"
    assert main(["bake", str(session.run.out), "-o", str(page), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == [0, 1, 2, 3, 4, 5]
    assert replay_page(saved_runs.replay(store))[:40] == page.read_text()[:40]
    assert main(["bake", name, "-o", str(page), "--runs", str(store.runs.folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "RoBERTa while it learns"
    store.session = None
    later = TrainStore(store.runs.folder, device="cpu")
    later.open(name)
    ends(later)
    steps = [moment["step"] for moment in moments.load(session.run.out).moments]
    assert steps == list(range(13)), "the replay of a run that went on is whole"
    with pytest.raises(UserError, match="no run on screen"):
        saved_runs.replay(TrainStore(store.runs.folder))


@pytest.mark.slow
def test_the_other_seeds_of_a_run_can_be_baked_too(store, tmp_path):
    store.param.update(seeds=2, steps=6)
    session = store.begin().start()
    extra_seeds.advance(store)
    siblings = extra_seeds.siblings(store)
    ends(store)
    siblings._thread.join(60)
    assert siblings.error == ""
    (folder,) = siblings.folders.values()
    texts = [moments.load(where).record["text"] for where in (folder, session.run.out)]
    assert texts[0] == texts[1], "both watch the same text"


# writing


def written(view):
    """What the tab shows after Write was pressed."""
    view.writing.begin()
    view.poll()
    view.writing.job.wait()
    view.poll()
    return view.result.object


@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("greedy search", ["max_new_tokens"]),
        ("sampling", ["temperature", "top_k", "top_p", "max_new_tokens"]),
        ("beam search", ["num_beams", "length_penalty", "max_new_tokens"]),
    ],
)
def test_the_model_of_a_run_that_trains_writes_and_the_run_goes_on(store, way, names):
    store.entry, store.steps = "GPT", 5000
    view = Writing(store)
    view.poll()
    assert "no model yet" in view.why.object and not view.controls.visible
    session = store.begin().start()
    assert becomes(lambda: session.learner is not None and session.learner.step > 2)
    view.poll()
    state = view.writing
    state.way, state.text = way, "the film"
    assert (view.why.object, view.controls.visible) == ("", True)
    assert sorted(view.knobs.controls) == sorted(names) and view.again.visible == (way == "sampling")
    assert "log-probability" in written(view) and "the film" in view.result.object
    assert len(state.job.result[0].texts) == (4 if way == "beam search" else 1)
    at = session.learner.step
    assert becomes(lambda: session.state == "running" and session.learner.step > at)


def test_one_presses_write_before_anything_is_written(store, monkeypatch):
    monkeypatch.setattr(writing_module, "write_text", None)
    store.entry = "GPT"
    store.begin()
    taken(store, 1)
    view = Writing(store)
    view.poll()
    view.writing.param.update(text="the film", way="beam search", turned={"num_beams": 3})
    view.poll()
    assert (view.writing.job.turn, view.result.object) == (1, ""), "it was only emptied for the new session"


def test_a_run_that_was_paused_stays_paused_and_another_seed_draws_another_text(store):
    store.entry = "GPT"
    session = store.begin()
    taken(store, 2)
    view = Writing(store)
    view.poll()
    first = written(view)
    assert session.state == "paused" and written(view) == first
    view.writing.again()
    view.writing.job.wait()
    view.poll()
    assert view.result.object != first
    store.end()
    assert written(view) == view.result.object != "", "also after the run"
    store.begin()
    view.poll()
    assert view.result.object == "", "which another run did not write"


def test_a_model_that_cannot_write_says_why_and_offers_nothing(store):
    store.begin()
    view = Writing(store)
    view.poll()
    assert "both sides in view" in view.why.object and not view.controls.visible


def test_what_is_typed_is_never_markup(store):
    store.entry = "GPT"
    store.begin()
    taken(store, 1)
    view = Writing(store)
    view.poll()
    view.writing.text = "the <img src=x onerror=alert(1)> film"
    shown = written(view)
    assert "<img" not in shown and "&lt;img" in shown and "Not in the vocabulary" in shown


def test_a_refusal_stands_where_the_text_would(store):
    store.entry = "BART"
    store.begin()
    taken(store, 1)
    view = Writing(store)
    view.poll()
    assert view.prompt.label == "text that the encoder reads"
    assert written(view) == "" and "type a text" in view.said.object
    view.writing.text = "the film"
    assert "log-probability" in written(view) and view.said.object == ""


def test_a_control_code_has_its_name_and_a_text_to_text_model_its_prefixes(store, monkeypatch):
    view = Writing(store)
    corpus = replace(reviews(), name="text to text", label_names={"topic": ("kitchen", "sea")})
    run = SimpleNamespace(entry=tiny("CTRL"), corpus=corpus)
    view.writing.take(SimpleNamespace(run=run))
    assert view.code.options == {"none": 0, "kitchen": 1, "sea": 2} and view.code.visible
    view.code.value = 2
    assert view.writing.how.control_code == 2
    view.writing.text = "the film was good"
    assert view.prefix.visible
    for prefix in ("sst2 sentence:", "cola sentence:"):
        view.prefix.value = prefix
        assert view.writing.text == f"{prefix} the film was good"
    view.writing.way = "greedy search"
    assert view.prefix.value == "cola sentence:", "which another way to write leaves as it is"


def test_the_text_in_pieces_is_the_text():
    tokenizer, ids = reviews().tokenizer, reviews().ids[:40].tolist()
    assert "".join(writing.pieces(ids, tokenizer)) == tokenizer.join(ids)
