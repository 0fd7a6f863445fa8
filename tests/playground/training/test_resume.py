"""A run that was stopped goes on to the last bit: from a checkpoint, in another process, after kill -9."""

import json
import sys
from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.training import checkpoint, data, train
from playground.training.checkpoint import KEPT, kept
from playground.training.store.metrics import recorded
from playground.training.store.runs import Runs
from tests.runs import each_kind, held_out, in_another_process, losses, reviews, run_of, same_weights, tiny


@each_kind
def test_a_run_goes_on_from_its_checkpoint_as_if_it_had_never_stopped(name, tmp_path):
    whole = list(train(run_of(name)))
    first = list(train(run_of(name, steps=6, out=tmp_path)))
    rest = list(train(run_of(name), checkpoint.load(tmp_path).learner))
    assert losses(first) + losses(rest) == losses(whole)
    assert held_out(rest)[-1] == held_out(whole)[-1]
    assert same_weights(rest[0].learner.model, whole[0].learner.model)
    assert rest[0].learner.tokens == whole[0].learner.tokens


@pytest.mark.parametrize(
    "recipe", [{"optimiser": "adamw"}, {"grad_clip": 0.0}, {"warmup_ratio": 1.0}, {"batch_size": 7}]
)
def test_it_goes_on_exactly_whatever_the_recipe(recipe, tmp_path):
    entry = tiny("RoBERTa", {"positions": "learned", "init": "normal"}, **recipe)
    whole = losses(train(run_of(entry=entry)))
    list(train(run_of(entry=entry, steps=5, out=tmp_path)))
    assert losses(train(run_of(), checkpoint.load(tmp_path).learner)) == whole[5:], "with the knobs it began with"


def test_it_goes_on_exactly_over_the_end_of_an_epoch(tmp_path):
    corpus = reviews(1_000)
    epoch = len(corpus.windows(16).ids) // 8
    whole = losses(train(run_of(corpus=corpus, steps=epoch + 3)))
    list(train(run_of(corpus=corpus, steps=epoch - 1, out=tmp_path)))
    assert losses(train(run_of(corpus=corpus, steps=epoch + 3), checkpoint.load(tmp_path).learner)) == whole[-4:]


@pytest.mark.parametrize("stop", [31, 32, 33, 37])
def test_it_goes_on_exactly_within_and_at_the_ends_of_a_block(stop, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "STEPS", 32)
    entry = tiny("BART", steps=40, batch_size=2)
    whole = losses(train(run_of(entry=entry, steps=40)))
    list(train(run_of(entry=entry, steps=stop, out=tmp_path)))
    assert losses(train(run_of(entry=entry, steps=40), checkpoint.load(tmp_path).learner)) == whole[stop:]


ELSEWHERE = """
import sys, torch
from tests.runs import losses, run_of
from playground.training import checkpoint, data, train
torch.set_num_threads(1)
print(*(loss.hex() for loss in losses(train(run_of("BART"), checkpoint.load(sys.argv[1]).learner))))
"""


@pytest.mark.guarded
@pytest.mark.slow
def test_it_goes_on_exactly_in_another_process(tmp_path):
    whole = losses(train(run_of("BART")))
    list(train(run_of("BART", steps=6, out=tmp_path)))
    assert [float.fromhex(loss) for loss in in_another_process(ELSEWHERE, tmp_path).split()] == whole[6:]


def test_another_entry_does_not_go_on_with_a_checkpoint(tmp_path):
    list(train(run_of("RoBERTa", steps=2, out=tmp_path)))
    with pytest.raises(UserError, match="holds a RoBERTa, not a GPT"):
        list(train(run_of("GPT"), checkpoint.load(tmp_path).learner))


def test_a_run_that_is_over_trains_no_more_and_says_how_good_it_is(tmp_path):
    whole = list(train(run_of(steps=4, evaluate_every=2, out=tmp_path)))
    again = list(train(run_of(steps=4, evaluate_every=2), checkpoint.load(tmp_path).learner))
    assert losses(again) == []
    assert held_out(again) == held_out(whole)[-1:]
    assert again[-1].reason == "steps"


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from playground.training import train
from playground.training.parallel.seeds import resumed, followed
from playground.training.store.runs import Runs
from tests.runs import reviews, run_of

torch.set_num_threads(1)
folder, moments = Path(sys.argv[1]), random.Random(0)
run = run_of("RoBERTa", steps=60, out=folder / "run", save_every=3, evaluate_every=5)
reviews()
record = run.out / "metrics.jsonl"

def begun():
    child = os.fork()
    if not child:
        learner = resumed(run) if record.exists() else None
        list(followed(run, train(run, learner), learner, Runs(folder)))
        os._exit(0)
    return child

def written():
    return record.stat().st_size if record.exists() else 0

for kill in range(4):
    child, before = begun(), written()
    more = moments.randrange(100, 2500)
    while abs(written() - before) < more and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.001)
    time.sleep(moments.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(os.waitpid(begun(), 0)[1]) == 0
"""


def curve(path):
    rows = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["step"], row["loss"]) for row in rows if "loss" in row], [r for r in rows if "held_out" in r]


@pytest.mark.guarded
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_killed_again_and_again_it_ends_with_the_same_losses_to_the_last_bit(tmp_path):
    in_another_process(KILLED, tmp_path)
    whole = replace(run_of("RoBERTa", steps=60, save_every=3, evaluate_every=5), out=tmp_path / "whole")
    list(recorded(whole, train(whole)))
    assert curve(tmp_path / "run") == curve(tmp_path / "whole")
    points = Runs(tmp_path).points("run")
    assert [(p.step, p.loss) for p in points if p.loss is not None] == curve(tmp_path / "whole")[0]
    ends = [checkpoint.load(tmp_path / name).learner.model.state_dict() for name in ("run", "whole")]
    assert all(torch.equal(ends[0][k], ends[1][k]) for k in ends[0])


def test_a_line_of_the_record_that_was_cut_short_is_dropped(tmp_path):
    run = run_of(steps=4, save_every=2, out=tmp_path)
    list(recorded(run, train(run)))
    record = tmp_path / "metrics.jsonl"
    whole = record.read_text(encoding="utf-8")
    record.write_text(whole[:-9], encoding="utf-8")
    learner = checkpoint.load(tmp_path).learner
    more = replace(run, steps=6)
    list(recorded(more, train(more, learner), learner.step))
    assert [step for step, _ in curve(tmp_path)[0]] == [1, 2, 3, 4, 5, 6]


def test_earlier_checkpoints_stay_and_go_on_exactly(tmp_path):
    whole = losses(train(run_of(steps=12, save_every=4, out=tmp_path)))
    assert list(kept(tmp_path)) == [4, 8, 12]
    assert losses(train(run_of(steps=12), checkpoint.load(kept(tmp_path)[4]).learner)) == whole[4:]


def test_of_many_checkpoints_some_stay(tmp_path):
    list(train(run_of(steps=60, save_every=1, evaluate_every=1000, out=tmp_path)))
    steps = list(kept(tmp_path))
    assert 2 <= len(steps) <= KEPT
    assert steps[-1] == 60
