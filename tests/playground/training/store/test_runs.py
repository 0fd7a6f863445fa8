"""Runs that are kept: listed, reloaded, forked, and many seeds at once."""

import sqlite3
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from playground.corpora import open_corpus
from playground.errors import UserError
from playground.objectives import find_objective
from playground.training import Evaluated, Run, Session, Stepped, checkpoint, train
from playground.training.curve import CurvePoint
from playground.training.fork import fork, what_changed
from playground.training.own_text import corpus_of, corpus_or_kept_rows
from playground.training.parallel.seeds import Band, Finished, Point, bands, train_seed, train_seeds
from playground.training.store import runs as runs_module
from playground.training.store.lock import claimed
from playground.training.store.runs import FILE, Parent, Runs, _check_format
from tests.runs import becomes, each_kind, losses, reviews, run_of, same_weights, suited_reviews, tiny


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
    assert kept.settings["objective"]["mask_ratio"] == 0.15
    points = runs.points("first")
    assert [p.loss for p in points if p.held_out is None] == losses(events)
    assert [p.step for p in points if p.held_out is not None] == [0, 4, 8, 12]
    assert kept.held_out == points[-1].held_out
    assert [dict(p.accuracy) for p in points if p.held_out is not None] == [
        e.accuracy for e in events if isinstance(e, Evaluated)
    ]
    assert not any(p.accuracy for p in points if p.held_out is None)
    assert points[-1].tokens == kept.tokens == 12 * 8 * 16
    assert points[-1].scored > 0
    assert 0 < points[1].flops < points[-1].flops
    assert [p.step for p in runs.points("first", after=10)] == [11, 12, 12]
    assert kept.checkpoints == (4, 8, 12)


@pytest.mark.parametrize("said", ["", "[", "[1]", '[["words", "all"]]', b"x", 7])
def test_a_damaged_accuracy_is_a_sentence(said, tmp_path):
    keep(tmp_path)
    with sqlite3.connect(tmp_path / "runs.sqlite") as base:
        base.execute("UPDATE points SET accuracy = ? WHERE step = 4", (said,))
    with pytest.raises(UserError, match="is damaged"):
        Runs(tmp_path).points("first")


def test_a_run_of_the_same_name_begins_with_no_accuracy_of_the_one_before(tmp_path):
    keep(tmp_path)
    Runs(tmp_path).delete("first")
    keep(tmp_path)
    run, _ = keep(tmp_path, seed=1)
    right = [e.accuracy for e in train(replace(run, out=None)) if isinstance(e, Evaluated)]
    assert [dict(p.accuracy) for p in Runs(tmp_path).points("first") if p.held_out is not None] == right


def test_nothing_kept_is_an_empty_list_and_makes_no_file(tmp_path):
    assert Runs(tmp_path / "none").all() == ()
    assert not (tmp_path / "none").exists()
    with pytest.raises(UserError, match=r"no run 'x' in .*; there are: none"):
        Runs(tmp_path).find("x")


def test_a_run_that_is_recorded_is_running_and_is_recorded_once(tmp_path, monkeypatch):
    run = run_of(out=tmp_path / "first")
    events = Runs(tmp_path).recorded("first", run, train(run))
    while not isinstance(next(events), Stepped):
        pass
    assert Runs(tmp_path).find("first").state == "running"
    monkeypatch.setattr(runs_module, "PATIENCE", 0.1)
    with pytest.raises(UserError, match="The run first is being trained already"):
        next(Runs(tmp_path).recorded("first", run, train(run)))


def test_a_list_that_cannot_be_opened_is_a_sentence(tmp_path):
    (tmp_path / "runs.sqlite").write_text("no data base at all, but text of some length", encoding="utf-8")
    with pytest.raises(UserError, match=r"The list of runs in .*runs.sqlite cannot be opened"):
        Runs(tmp_path).all()


def test_a_list_of_another_version_is_a_sentence_that_names_both(tmp_path):
    keep(tmp_path)
    with Runs(tmp_path)._open() as base:
        base.execute("PRAGMA user_version = 7")
    with pytest.raises(UserError, match=r"has format 7; this version reads format 4\. Move it away"):
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


@pytest.mark.parametrize(
    ("name", "objective", "fresh"),
    [
        ("GPT", "MLM", ()),
        ("RoBERTa", "AntLM", ()),
        ("GPT", "SOP", ("label_heads.pair", "network.segment_embedding")),
        ("RoBERTa", "T5 spans", ("network.decoder",)),
        ("BioBERT", "RTD", ("rtd_head", "generator", "generator_lm_head")),
    ],
)
def test_a_fork_to_another_objective_keeps_every_weight_and_names_the_fresh_parts(name, objective, fresh):
    run = run_of(entry=tiny(name), corpus=suited_reviews(find_objective(objective)), steps=4)
    *_, learner = (event.learner for event in train(run) if hasattr(event, "learner"))
    before = {key: value.clone() for key, value in learner.model.state_dict().items()}
    made = fork(replace(run, steps=6), learner, {"objective": objective})
    assert set(made.fresh) == set(fresh)
    assert ("attention left to right → bidirectional" in made.changed) == (name == "GPT")
    ending = f", new weights: {' and '.join(made.fresh)}" if fresh else ""
    assert made.changed.endswith(f"objective {learner.entry.objective.name} → {objective}{ending}")
    after = made.learner.model.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())
    assert all(key in before or key.startswith(fresh) for key in after), "nothing else is new"
    seen = [event for event in train(made.run, made.learner) if isinstance(event, Stepped)]
    asked = [[target.name for part in event.batch.with_auxiliary for target in part.targets] for event in seen]
    assert len(seen) == 2 and set(asked[0]) <= set(find_objective(objective).target_names)
    assert all(torch.equal(value, before[key]) for key, value in learner.model.state_dict().items()), "undisturbed"


def test_a_fork_to_another_objective_keeps_the_moments_of_the_weights_that_both_have():
    run = run_of(entry=tiny("RoBERTa"), corpus=suited_reviews(find_objective("SOP")), steps=4)
    *_, learner = (event.learner for event in train(run) if hasattr(event, "learner"))
    made = fork(run, learner, {"objective": "SOP"}).learner
    theirs = dict(learner.model.named_parameters())
    kept = {k: v for optimiser in learner.optimisers for k, v in optimiser.state.items()}
    own = {k: v for optimiser in made.optimisers for k, v in optimiser.state.items()}
    assert kept and len(own) == len(kept), "a fresh part has no moments"
    for name, parameter in made.model.named_parameters():
        for key, value in own.get(parameter, {}).items():
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(kept[theirs[name]][key]))
            assert value is not kept[theirs[name]][key]


@pytest.mark.parametrize("objective", ["MLM", "SOP", "CLM then MLM", "MLM + 0.5 SOP"])
def test_a_fork_to_another_objective_is_kept_and_goes_on_exactly(objective, tmp_path):
    corpus = suited_reviews(find_objective(objective))
    run, _ = keep(tmp_path, entry=tiny("GPT"), corpus=corpus)
    made = fork(run, Runs(tmp_path).load("first", 4).learner, {"objective": objective, "lr": 0.002})
    whole = list(train(made.run, made.learner))
    again = fork(run, Runs(tmp_path).load("first", 4).learner, {"objective": objective, "lr": 0.002})
    list(train(replace(again.run, steps=7, out=tmp_path / "second"), again.learner))
    saved = checkpoint.load(tmp_path / "second").learner
    assert (saved.entry.name, saved.entry.objective.name) == ("GPT", objective)
    rest = list(train(replace(made.run, entry=saved.entry), saved))
    assert losses(rest) == losses(whole)[3:]
    assert same_weights(saved.model, made.learner.model)


def test_a_fork_to_an_objective_that_its_text_cannot_serve_is_refused(tmp_path):
    run, _ = keep(tmp_path)
    with pytest.raises(UserError, match="nope"):
        fork(run, Runs(tmp_path).load("first").learner, {"objective": "nope"})
    with pytest.raises(UserError, match="no knob 'mask_ratio'"):
        fork(run, Runs(tmp_path).load("first").learner, {"objective": "LM", "mask_ratio": 0.3})


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
    monkeypatch.setattr("playground.training.own_text.open_saved", lambda name, tokenizer: reviews())
    saved = checkpoint.load(tmp_path / "first" / "step-4.safetensors")
    learner = saved.learner
    made = fork(Run(learner.entry, corpus_of(saved), learner.seed, learner.device), learner)
    assert losses(train(replace(made.run, steps=12), made.learner)) == losses(events)[4:]
    monkeypatch.setattr("playground.training.own_text.open_saved", lambda name, tokenizer: reviews(4_000))
    with pytest.raises(UserError, match="trained on other text"):
        corpus_of(saved)
    rows, held_out = corpus_or_kept_rows(saved), saved.corpus.held_out
    assert rows.ids.tolist() == held_out.ids[held_out.valid].tolist() and 0 < rows.held_out_from < len(rows)
    assert rows.document_ids.unique_consecutive().tolist() == list(range(len(held_out.ids)))


OWN = {
    "notes.txt": "the baker laughs at the dog . the dog barks at the baker .\n\n" * 30,
    "films.csv": "text,label\n" + "the film was good and honest .,yes\nthe film was bad and slow .,no\n" * 30,
    "tree.conllu": "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tfilm\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 200,
}


@pytest.mark.parametrize("name", OWN)
def test_a_text_of_ones_own_is_kept_with_its_run(name, tmp_path, monkeypatch):
    (tmp_path / name).write_text(OWN[name])
    run, events = keep(tmp_path, corpus=open_corpus(tmp_path / name))
    (tmp_path / name).unlink()
    monkeypatch.chdir("/")
    saved = Runs(tmp_path).load("first", 4)
    corpus = corpus_of(saved)
    assert corpus.hash == run.corpus.hash and corpus.label_names == run.corpus.label_names
    made = fork(replace(run, corpus=corpus), saved.learner)
    assert losses(train(replace(made.run, steps=12), made.learner)) == losses(events)[4:]
    (text,) = (tmp_path / "first").glob("text-*.safetensors")
    tensors = load_file(text)
    with safe_open(text, "pt") as file:
        about = file.metadata()
    for wrong in ({"ids": tensors["ids"] + len(corpus.tokenizer)}, {"word_ids": tensors["word_ids"][:-1]}):
        save_file(tensors | wrong, text, about)
        with pytest.raises(UserError, match="damaged"):
            corpus_of(saved)
    save_file(tensors | {"ids": tensors["ids"].flip(0).contiguous()}, text, about)
    with pytest.raises(UserError, match="trained on other text"):
        corpus_of(saved)


def test_what_changed_tells_recipe_model_and_objective_apart():
    one = tiny("RoBERTa")
    other = replace(
        one,
        recipe=replace(one.recipe, lr=0.1),
        model=replace(one.model, width=32),
        objective=one.objective.turn({"mask_ratio": 0.2}),
    )
    assert what_changed(one, other) == "lr 0.006 → 0.1, width 16 → 32, mask_ratio 0.15 → 0.2"
    assert what_changed(one, tiny("GPT")).endswith("objective MLM → LM")


# many seeds


def test_bands_are_the_mean_and_the_spread_over_seeds_at_every_evaluated_step():
    points = [Point(s, CurvePoint(k, None, float(s + k), 0, 0.0)) for s in (1, 2, 3) for k in (0, 50)]
    points.append(Point(1, CurvePoint(51, 9.0, None, 0, 0.0)))
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
    assert {e.facts["out"] for some in (*first, *second) for e in some if isinstance(e, Finished)} == {
        str(tmp_path / "RoBERTa-reviews-seed0"),
        str(tmp_path / "RoBERTa-reviews-seed0-2"),
    }
    assert [r.state for r in runs.all()] == ["steps", "steps"]
    with claimed(tmp_path / "RoBERTa-reviews-seed0") as folder:
        assert folder.name == "RoBERTa-reviews-seed0", "it is free again"


def test_a_folder_is_claimed_by_one_run_at_a_time(tmp_path):
    one = tmp_path / "one"
    for _ in range(2):
        with claimed(one) as first, claimed(one) as second:
            assert (first, second) == (one, tmp_path / "one-2")


def test_a_claim_of_a_process_that_was_killed_counts_no_more(tmp_path):
    code = "import sys, pathlib; from playground.training.store.lock import claimed\n"
    code += "with claimed(pathlib.Path(sys.argv[1])) as folder: print(folder, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path / "one")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline().strip() == str(tmp_path / "one")
        with claimed(tmp_path / "one") as folder:
            assert folder == tmp_path / "one-2"
        other.kill()
    with claimed(tmp_path / "one") as folder:
        assert folder == tmp_path / "one"


@pytest.mark.parametrize(("seeds", "workers", "said"), [((), 1, "at least one"), ((1, 1), 1, "twice"), ((1,), 0, "at")])
def test_senseless_seeds_are_refused(seeds, workers, said):
    with pytest.raises(UserError, match=said):
        list(train_seeds(run_of(), seeds, workers))


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
    session.viewer.watch()
    session.start()
    assert becomes(lambda: session.state == "failed")
    assert becomes(lambda: runs.find("live").state == "failed")
    assert runs.find("live").error == "nothing to see"


def test_a_run_that_this_process_no_longer_writes_was_cut_off(tmp_path):
    keep(tmp_path)
    with Runs(tmp_path)._open() as base:
        base.execute("UPDATE runs SET state = 'running'")
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
