"""Runs that are kept: listed, reloaded, forked, and many seeds at once."""

import json
import os
import platform
import sqlite3
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from playground import cli
from playground.errors import UserError
from playground.training import Evaluated, Run, Session, Stepped, checkpoint, train
from playground.training.fork import corpus_of, fork, what_changed
from playground.training.parallel.seeds import Band, Finished, Point, bands, train_seed, train_seeds
from playground.training.session import Row
from playground.training.store.lock import alive, claimed, started_at, this_process
from playground.training.store.runs import FILE, Parent, Runs, _check_format
from tests.runs import becomes, each_kind, losses, reviews, run_of, tiny

TINY = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]


def keep(folder, name="first", **values):
    run = run_of(out=folder / name, save_every=4, evaluate_every=4, **values)
    return run, list(Runs(folder).recorded(name, run, train(run)))


# the list


def test_a_run_is_listed_with_its_curve(tmp_path):
    _, events = keep(tmp_path)
    runs = Runs(tmp_path)
    (kept,) = runs.all()
    assert (kept.name, kept.entry, kept.seed, kept.state, kept.step) == ("first", "RoBERTa", 0, "steps", 12)
    assert kept.settings["recipe"]["batch_size"] == 8
    assert kept.settings["objective"]["mask_ratio"] == 0.3
    points = runs.points("first")
    assert [p.loss for p in points if p.held_out is None] == losses(events)
    assert [p.step for p in points if p.held_out is not None] == [0, 4, 8, 12]
    assert kept.held_out == points[-1].held_out
    assert [dict(p.accuracy) for p in points if p.held_out is not None] == [
        e.accuracy for e in events if isinstance(e, Evaluated)
    ]
    assert not any(p.accuracy for p in points if p.held_out is None)
    assert points[-1].tokens == kept.tokens == 12 * 8 * 16
    assert points[-1].graded > 0
    assert 0 < points[1].flops < points[-1].flops
    assert [p.step for p in runs.points("first", after=10)] == [11, 12, 12]
    assert kept.checkpoints == (4, 8, 12)


def test_a_list_of_an_earlier_version_is_read_and_its_runs_have_no_accuracy(tmp_path):
    keep(tmp_path)
    runs = Runs(tmp_path)
    before = runs.points("first")
    with sqlite3.connect(tmp_path / "runs.sqlite") as base:
        base.execute("DROP TABLE accuracies")
    assert runs.points("first") == [replace(point, accuracy=()) for point in before]
    assert any(point.accuracy for point in before)


@pytest.mark.parametrize("said", ["", "[", "[1]", '[["words", "all"]]', b"x", 7])
def test_a_damaged_accuracy_is_a_sentence(said, tmp_path):
    keep(tmp_path)
    with sqlite3.connect(tmp_path / "runs.sqlite") as base:
        base.execute("UPDATE accuracies SET accuracy = ? WHERE step = 4", (said,))
    with pytest.raises(UserError, match="is damaged"):
        Runs(tmp_path).points("first")


def test_a_run_of_the_same_name_begins_with_no_accuracy_of_the_one_before(tmp_path):
    keep(tmp_path)
    Runs(tmp_path).delete("first")
    with sqlite3.connect(tmp_path / "runs.sqlite") as base:
        assert base.execute("SELECT count(*) FROM accuracies").fetchone() == (0,)
    keep(tmp_path)
    run, _ = keep(tmp_path, seed=1)
    right = [e.accuracy for e in train(replace(run, out=None)) if isinstance(e, Evaluated)]
    assert [dict(p.accuracy) for p in Runs(tmp_path).points("first") if p.held_out is not None] == right


def test_nothing_kept_is_an_empty_list_and_makes_no_file(tmp_path):
    assert Runs(tmp_path / "none").all() == ()
    assert not (tmp_path / "none").exists()
    with pytest.raises(UserError, match=r"no run 'x' in .*; there are: none"):
        Runs(tmp_path).find("x")


def test_a_run_whose_process_is_gone_was_cut_off_and_a_living_one_runs(tmp_path):
    run = run_of(out=tmp_path / "first")
    events = Runs(tmp_path).recorded("first", run, train(run))
    for event in events:
        if isinstance(event, Stepped):
            break
    assert Runs(tmp_path).find("first").state == "running"
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with Runs(tmp_path)._open() as base:
        base.execute("UPDATE runs SET process = replace(process, ?, ?)", (str(os.getpid()), str(child)))
    assert Runs(tmp_path).find("first").state == "cut off"


def test_a_list_that_cannot_be_opened_is_a_sentence(tmp_path):
    (tmp_path / "runs.sqlite").write_text("no data base at all, but text of some length", encoding="utf-8")
    with pytest.raises(UserError, match=r"The list of runs in .*runs.sqlite cannot be opened"):
        Runs(tmp_path).all()


def test_a_list_of_another_version_is_a_sentence_that_names_both(tmp_path):
    keep(tmp_path)
    with Runs(tmp_path)._open() as base:
        base.execute("PRAGMA user_version = 7")
    with pytest.raises(UserError, match=r"has format 7; this version reads format 1\. Move it away"):
        Runs(tmp_path).all()


def test_a_run_that_goes_on_keeps_its_curve_and_its_place(tmp_path):
    keep(tmp_path)
    keep(tmp_path, "second", seed=1)
    runs = Runs(tmp_path)
    whole = runs.points("first")
    saved = runs.load("first", 8)
    run = run_of(out=tmp_path / "first", save_every=4, evaluate_every=4)
    list(runs.recorded("first", run, train(run, saved.learner)))
    again = runs.points("first")
    assert [(p.step, p.loss, p.held_out) for p in again] == [(p.step, p.loss, p.held_out) for p in whole]
    assert [r.name for r in runs.all()] == ["first", "second"]


def test_a_step_that_was_not_kept_is_refused_with_those_that_were(tmp_path):
    keep(tmp_path, steps=10)
    assert Runs(tmp_path).load("first", 10).learner.step == 10
    with pytest.raises(UserError, match="kept nothing of step 5; it kept 4, 8, 10"):
        Runs(tmp_path).load("first", 5)


def test_a_session_is_kept_while_it_runs(tmp_path):
    runs = Runs(tmp_path)
    session = Session(run_of(steps=6), record=lambda run, events: runs.recorded("live", run, events)).start()
    assert becomes(lambda: session.state == "done")
    assert [p.loss for p in runs.points("live")] == [row.loss for row in session.rows]


# forks


@each_kind
def test_a_fork_that_changes_nothing_is_the_run_itself(name, tmp_path):
    _, events = keep(tmp_path, entry=tiny(name))
    saved = Runs(tmp_path).load("first", 4)
    run = run_of(entry=tiny(name))
    made = fork(run, saved.learner)
    assert (made.step, made.changed) == (4, "nothing")
    assert losses(train(made.run, made.learner)) == losses(events)[4:]
    assert losses(train(run, saved.learner)) == losses(events)[4:], "the learner that was forked is undisturbed"


def test_a_fork_with_another_rate_parts_after_its_first_step_and_says_so(tmp_path):
    run, events = keep(tmp_path, entry=tiny(optimiser="adamw"))
    made = fork(run, Runs(tmp_path).load("first", 4).learner, {"lr": 0.02})
    assert made.changed == "lr 0.006 → 0.02"
    found, trunk = losses(train(made.run, made.learner)), losses(events)[4:]
    assert found[0] == trunk[0]
    assert all(a != b for a, b in zip(found[1:], trunk[1:], strict=True))


def test_a_fork_may_take_another_seed_optimiser_or_corruption(tmp_path):
    run, events = keep(tmp_path)
    learner = Runs(tmp_path).load("first", 4).learner
    for changes, said in (
        ({"seed": 7}, "seed 0 → 7"),
        ({"optimiser": "adamw"}, "optimiser muon → adamw"),
        ({"mask_replace_prob": 0.5}, "mask_replace_prob 0.8 → 0.5"),
        ({"batch_size": 4, "grad_clip": 0.5}, "batch_size 8 → 4, grad_clip 1 → 0.5"),
    ):
        made = fork(run, learner, changes)
        assert made.changed == said
        found = losses(train(made.run, made.learner))
        assert len(found) == 8
        assert found != losses(events)[4:]


def test_a_fork_keeps_the_weights_so_the_model_cannot_change(tmp_path):
    run, _ = keep(tmp_path)
    with pytest.raises(UserError, match="width cannot be changed in a fork"):
        fork(run, Runs(tmp_path).load("first").learner, {"width": 32})


def test_a_fork_of_a_session_leaves_it_where_it_stands(tmp_path):
    session = Session(run_of(steps=500)).start()
    assert becomes(lambda: len(session.rows) > 4)
    made = session.fork({"lr": 0.001})
    assert session.state == "paused"
    assert made.step == session.learner.step
    assert list(train(replace(made.run, steps=made.step + 3), made.learner))[-1].step == made.step + 3
    session.stop()


def test_a_rate_that_is_turned_in_a_session_counts_at_once():
    session = Session(run_of(steps=500, entry=tiny(steps=500)))
    session.step()
    assert becomes(lambda: len(session.rows) == 2)
    session.turn({"lr": 0.001})
    with pytest.raises(UserError, match="lr is 'fast'"):
        session.turn({"lr": "fast"})
    session.step()
    assert becomes(lambda: len(session.rows) == 3)
    session.rest()
    session.step()
    assert becomes(lambda: len(session.rows) == 4)
    assert session.learner.optimisers[-1].param_groups[0]["full_rate"] == 0.001
    session.stop()


def test_the_tree_knows_parents_children_and_what_changed(tmp_path):
    run, _ = keep(tmp_path)
    runs = Runs(tmp_path)
    made = fork(run, runs.load("first", 4).learner, {"lr": 0.02}, out=tmp_path / "second")
    parent = Parent("first", made.step, made.changed)
    list(runs.recorded("second", made.run, train(made.run, made.learner), parent))
    root, child = runs.all()
    assert (root.name, root.parent) == ("first", None)
    assert (child.name, child.parent, child.forked_at, child.changed) == ("second", "first", 4, "lr 0.006 → 0.02")
    assert [p.step for p in runs.points("second") if p.loss is not None] == list(range(5, 13))
    assert runs.new_name("second") == "second-2"


def test_a_checkpoint_is_forked_with_its_corpus_opened_again(tmp_path, monkeypatch):
    _, events = keep(tmp_path)
    monkeypatch.setattr("playground.training.fork.open_saved", lambda name, tokenizer: reviews())
    saved = checkpoint.load(tmp_path / "first" / "step-4.safetensors")
    learner = saved.learner
    made = fork(Run(learner.entry, corpus_of(saved), learner.seed, learner.device), learner)
    assert losses(train(replace(made.run, steps=12), made.learner)) == losses(events)[4:]
    monkeypatch.setattr("playground.training.fork.open_saved", lambda name, tokenizer: reviews(4_000))
    with pytest.raises(UserError, match="trained on other text"):
        corpus_of(checkpoint.load(tmp_path / "first"))


def test_what_changed_tells_recipe_model_and_objective_apart():
    one = tiny("RoBERTa")
    other = replace(
        one,
        recipe=replace(one.recipe, lr=0.1),
        model=replace(one.model, width=32),
        objective=one.objective.turn({"mask_ratio": 0.2}),
    )
    assert what_changed(one, other) == "lr 0.006 → 0.1, width 16 → 32, mask_ratio 0.3 → 0.2"
    assert what_changed(one, tiny("GPT")).endswith("objective MLM → LM")


# many seeds


def test_bands_are_the_mean_and_the_spread_over_seeds_at_every_evaluated_step():
    points = [Point(s, Row(k, None, float(s + k), 0, 0.0)) for s in (1, 2, 3) for k in (0, 50)]
    points.append(Point(1, Row(51, 9.0, None, 0, 0.0)))
    assert bands(points) == (Band(0, 2.0, 1.0, 3), Band(50, 52.0, 1.0, 3))
    assert bands(points[:1]) == (Band(0, 1.0, 0.0, 1),)


@pytest.mark.slow
def test_seeds_in_workers_have_the_numbers_of_seeds_alone(tmp_path):
    run = run_of(steps=6, evaluate_every=3, out=tmp_path / "two")
    shared = list(train_seeds(run, (3, 4), workers=2, runs=Runs(tmp_path)))
    alone = list(train_seeds(replace(run, out=tmp_path / "one"), (3, 4)))
    for seed in (3, 4):
        curves = [
            [(p.row.step, p.row.loss, p.row.held_out) for p in events if isinstance(p, Point) and p.seed == seed]
            for events in (shared, alone)
        ]
        assert curves[0] == curves[1]
        assert [loss for _, loss, _ in curves[0] if loss is not None] == losses(
            train(replace(run, seed=seed, out=None))
        )
    assert bands(p for p in shared if isinstance(p, Point)) == bands(p for p in alone if isinstance(p, Point))
    assert sorted(e.facts["seed"] for e in shared if isinstance(e, Finished)) == [3, 4]
    assert {r.state for r in Runs(tmp_path).all()} == {"steps"}
    assert (tmp_path / "two" / "RoBERTa-reviews-seed4" / "checkpoint.safetensors").is_file()


def test_seeds_that_were_cut_off_go_on(tmp_path):
    run = run_of(steps=6, save_every=3, out=tmp_path)
    whole = list(train_seeds(replace(run, out=None), (0, 1)))
    list(train_seeds(replace(run, steps=3), (0,)))
    rest = list(train_seeds(run, (0, 1), resume=True))
    last = {e.seed: e.facts["loss"]["held_out"] for e in rest if isinstance(e, Finished)}
    assert last == {e.seed: e.facts["loss"]["held_out"] for e in whole if isinstance(e, Finished)}
    assert sum(isinstance(e, Point) and e.seed == 0 and e.row.loss is not None for e in rest) == 3


def test_two_runs_at_once_never_share_a_folder(tmp_path):
    run, runs = run_of(steps=2, out=tmp_path), Runs(tmp_path)
    first, second = train_seed(run, 0, runs), train_seed(run, 0, runs)
    next(first)
    next(second)
    assert {e.facts["out"] for e in (*first, *second) if isinstance(e, Finished)} == {
        str(tmp_path / "RoBERTa-reviews-seed0"),
        str(tmp_path / "RoBERTa-reviews-seed0-2"),
    }
    assert [r.state for r in runs.all()] == ["steps", "steps"]
    assert claimed(tmp_path / "RoBERTa-reviews-seed0").name == "RoBERTa-reviews-seed0", "it is free again"


def test_a_claim_whose_process_is_gone_counts_no_more(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "writing").write_text(f"{platform.node()}:{ended.pid}")
    assert claimed(tmp_path / "one") == tmp_path / "one"
    assert claimed(tmp_path / "one") == tmp_path / "one-2"


@pytest.mark.parametrize(("seeds", "workers", "said"), [((), 1, "at least one"), ((1, 1), 1, "twice"), ((1,), 0, "at")])
def test_senseless_seeds_are_refused(seeds, workers, said):
    with pytest.raises(UserError, match=said):
        list(train_seeds(run_of(), seeds, workers))


# the command line


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    corpus = reviews(4_000)
    text = corpus.tokenizer.join(corpus.ids.tolist()).replace("[SEP]", "\n\n")
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")

    def run(*arguments):
        status = cli.main([str(a) for a in arguments])
        said = capsys.readouterr()
        return status, json.loads(said.out) if "--json" in arguments else said.out, said.err

    return run


def test_train_fork_and_list(call):
    first = ("train", "RoBERTa", "--corpus", "t.txt", *TINY, "--steps", 6, "--save-every", 2)
    assert call(*first)[0] == 0
    status, facts, _ = call("train", "--fork", "RoBERTa-t-seed0@4", "--steps", 8, "--set", "lr=0.01", "--json")
    assert (status, facts["changed"], facts["steps"]) == (0, "lr 0.006 → 0.01", 8)
    assert (facts["parent"], facts["forked_at"], facts["out"]) == ("RoBERTa-t-seed0", 4, "runs/RoBERTa-t-seed0-fork4")
    runs = call("runs", "--json")[1]["runs"]
    assert [r["name"] for r in runs] == ["RoBERTa-t-seed0", "RoBERTa-t-seed0-fork4"]
    tree = call("runs")[1].splitlines()
    assert tree[1].startswith("  RoBERTa-t-seed0-fork4 (from step 4: lr 0.006 → 0.01): 8 steps")
    one = call("runs", "RoBERTa-t-seed0", "--json")[1]
    assert one["checkpoints"] == [2, 4, 6]
    assert len([p for p in one["points"] if p["loss"] is not None]) == 6
    assert call("runs", "nobody")[0] == 2
    status, _, err = call("train", "--fork", "RoBERTa-t-seed0@5", "--steps", 8)
    assert (status, err.strip()) == (2, "The run RoBERTa-t-seed0 kept nothing of step 5; it kept 2, 4, 6.")


def test_no_runs_is_a_sentence(call):
    assert call("runs")[1] == "No run was kept in runs; train one: playground train BERT.\n"


def test_the_paper_recipe_on_the_command_line(call):
    status, *_ = call(
        "train", "RoBERTa", "--corpus", "t.txt", *TINY, "--recipe", "paper", "--steps", 2, "--out", "p", "--json"
    )
    assert status == 0
    entry = checkpoint.load("p").learner.entry
    assert (entry.recipe.optimiser, entry.model.positions, entry.model.init) == ("adamw", "learned", "normal")
    assert call("train", "RoBERTa", "--recipe", "slow")[0] == 2


def test_seeds_on_the_command_line_come_with_their_band(call):
    status, facts, _ = call("train", "RoBERTa", "--corpus", "t.txt", *TINY, "--steps", 2, "--seeds", 2, "--json")
    assert status == 0
    values = [run["loss"]["held_out"] for run in facts["runs"]]
    assert facts["bands"][-1]["mean"] == pytest.approx(sum(values) / 2)
    assert facts["bands"][-1]["seeds"] == 2


def test_a_run_cut_off_before_its_first_checkpoint_begins_anew(call, tmp_path):
    first = ("train", "RoBERTa", "--corpus", "t.txt", *TINY, "--steps", 3, "--out", "here", "--json")
    whole = call(*first)[1]
    (tmp_path / "here" / "checkpoint.safetensors").unlink()
    assert call(*first, "--resume")[1]["loss"] == whole["loss"]


def test_want_of_a_name_is_a_sentence(call):
    status, _, err = call("train")
    assert (status, err.strip()) == (2, "No entry is named; name one, such as BERT, or a run to fork: --fork RUN.")


def test_half_precision_survives_a_checkpoint(tmp_path):
    entry = tiny("GPT", precision="bfloat16")
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=5, out=tmp_path)))
    learner = checkpoint.load(tmp_path).learner
    assert learner.model.token_embedding.weight.dtype == torch.float32
    assert losses(train(run_of(entry=entry), learner)) == whole[5:]


# what ends badly, what is called otherwise, what is deleted


def failing(run, at=5):
    """The events of a run that fails in a step."""
    for event in train(run):
        yield event
        if isinstance(event, Stepped) and event.step == at:
            raise RuntimeError("the disk is gone")


def test_a_run_that_fails_says_so_and_why_and_keeps_its_curve(tmp_path):
    run = run_of(out=tmp_path / "first", save_every=4, evaluate_every=4)
    runs = Runs(tmp_path)
    with pytest.raises(RuntimeError):
        list(runs.recorded("first", run, failing(run)))
    kept = runs.find("first")
    assert (kept.state, kept.error, kept.step) == ("failed", "the disk is gone", 5)
    assert [p.step for p in runs.points("first") if p.loss is not None] == [1, 2, 3, 4, 5]
    list(runs.recorded("first", run, train(run)))
    assert (runs.find("first").state, runs.find("first").error) == ("steps", "")


def test_a_session_whose_listener_fails_is_listed_as_failed(tmp_path):
    runs = Runs(tmp_path)

    def look(learner):
        raise ValueError("nothing to see")

    session = Session(run_of(steps=50), look, record=lambda run, events: runs.recorded("live", run, events))
    session.watch()
    session.start()
    assert becomes(lambda: session.state == "failed")
    assert becomes(lambda: runs.find("live").state == "failed")
    assert runs.find("live").error == "nothing to see"


def test_a_run_that_this_process_no_longer_writes_was_cut_off(tmp_path):
    keep(tmp_path)
    with Runs(tmp_path)._open() as base:
        base.execute("UPDATE runs SET state = 'running'")
    assert Runs(tmp_path).find("first").state == "cut off"


def test_the_number_of_a_process_that_another_one_has_now_is_no_sign_of_life():
    born = started_at(os.getpid())
    assert alive(this_process(), born)
    assert alive(this_process()), "earlier versions did not say when the process began"
    if born:
        assert not alive(this_process(), "1")


def test_a_run_whose_number_of_a_process_was_given_again_was_cut_off(tmp_path):
    run = run_of(out=tmp_path / "first")
    events = Runs(tmp_path).recorded("first", run, train(run))
    while not isinstance(next(events), Stepped):
        pass
    assert Runs(tmp_path).find("first").state == "running"
    if started_at(os.getpid()):
        with Runs(tmp_path)._open() as base:
            base.execute("UPDATE notes SET text = '1' WHERE kind = 'born'")
        assert Runs(tmp_path).find("first").state == "cut off"


def test_a_run_is_called_what_a_person_says_and_goes_by_its_name(tmp_path):
    keep(tmp_path)
    runs = Runs(tmp_path)
    runs.rename("first", "  the  one with\na low rate ")
    assert (runs.find("first").shown, runs.find("first").name) == ("the one with a low rate", "first")
    assert runs.load("first").learner.step == 12
    with pytest.raises(UserError, match="has 90 characters; use at most 80"):
        runs.rename("first", "x" * 90)
    with pytest.raises(UserError, match="no run 'second'"):
        runs.rename("second", "new")
    runs.rename("first", " ")
    assert runs.find("first").shown == "first"


def test_a_deleted_run_leaves_its_forks_their_whole_curve_and_their_checkpoints(tmp_path):
    run, _ = keep(tmp_path)
    runs = Runs(tmp_path)
    for name, before, step in (("second", "first", 4), ("third", "second", 8)):
        made = fork(run, runs.load(before, step).learner, {"lr": 0.02 / step}, out=tmp_path / name)
        parent = Parent(before, made.step, made.changed)
        list(runs.recorded(name, made.run, train(made.run, made.learner), parent))
    whole = [p for p in runs.points("first") if p.step <= 4]
    whole += [p for p in runs.points("second") if p.step <= 8] + runs.points("third")
    assert runs.delete("second") == ""
    assert not (tmp_path / "second").exists()
    third = runs.find("third")
    assert (third.parent, third.forked_at) == ("first", 4)
    assert "left second, which was deleted, at step 8: lr 0.005 → 0.0025" in third.changed
    assert [p for p in runs.points("first") if p.step <= 4] + runs.points("third") == whole
    assert runs.delete("first") == ""
    third = runs.find("third")
    assert (third.parent, third.forked_at) == (None, None)
    assert runs.points("third") == whole
    assert runs.load("third").learner.step == 12
    assert [r.name for r in runs.all()] == ["third"]


def test_what_trains_is_not_deleted_and_files_elsewhere_stay(tmp_path):
    run = run_of(out=tmp_path / "runs" / "first")
    runs = Runs(tmp_path / "runs")
    events = runs.recorded("first", run, train(run))
    while not isinstance(next(events), Stepped):
        pass
    with pytest.raises(UserError, match="first is being trained; stop it before it is deleted"):
        runs.delete("first")
    events.close()
    assert runs.delete("first") == ""
    other = run_of(out=tmp_path / "elsewhere")
    list(runs.recorded("other", other, train(other)))
    assert "Its files stay in" in runs.delete("other")
    assert (tmp_path / "elsewhere" / "checkpoint.safetensors").is_file()
    assert runs.all() == ()
    with pytest.raises(UserError, match="no run 'other'"):
        runs.delete("other")


def test_a_list_of_an_earlier_version_is_read_and_gets_its_notes(tmp_path):
    keep(tmp_path)
    runs = Runs(tmp_path)
    with runs._open() as base:
        base.execute("DROP TABLE notes")
    assert runs.find("first").shown == "first"
    runs.rename("first", "new")
    assert runs.find("first").title == "new"


def test_a_list_that_another_process_makes_just_now_is_not_taken_for_one_of_another_format(tmp_path):
    base = sqlite3.connect(tmp_path / FILE)

    class Between:
        """Between two questions to the base another process makes the list."""

        def execute(self, query):
            (found,) = base.execute(query).fetchall()
            Runs(tmp_path)._open().close()
            return SimpleNamespace(fetchone=lambda: found)

        def close(self):
            base.close()

    _check_format(Between(), tmp_path / FILE)
    base.close()
