"""Moments of a run: well spaced, real, kept beside the checkpoint, and no burden to the run itself."""

import json
from base64 import b64decode
from itertools import pairwise

import pytest
import torch

from playground.analysis.predictions import read, sentence_of
from playground.errors import UserError
from playground.objectives import objectives
from playground.tokenizing import read_input
from playground.trace.frames import VISIBLE
from playground.training import Run, Started, Stepped, checkpoint, train
from playground.training.observe.replay import (
    FILE,
    MOST,
    RecordedCurve,
    ReplayRecorder,
    load,
    spaced,
    to_watch,
    watched,
)
from playground.training.store.metrics import recorded
from tests.runs import alone, each_kind, losses, reviews, run_of, suited_reviews


def kept(run, learner=None, text=None):
    """A whole run with its moments and its record in its folder."""
    for _ in watched(run, recorded(run, train(run, learner), learner.step if learner else 0), text):
        pass
    return load(run.out)


@pytest.mark.parametrize("last", [0, 1, 2, 59, 60, 61, 300, 1000, 100_000])
def test_moments_begin_and_end_with_the_run_and_lie_ever_further_apart(last):
    steps = spaced(last)
    assert steps[0] == 0 and steps[-1] == last
    assert len(steps) == min(MOST, last + 1)
    gaps = [b - a for a, b in pairwise(steps)]
    assert all(gap > 0 for gap in gaps)
    assert last < 300 or gaps[-1] > 5 * gaps[0]


@each_kind
def test_a_moment_is_what_the_model_of_that_step_says(name, tmp_path):
    run = run_of(name, out=tmp_path)
    replay = kept(run)
    assert [m["step"] for m in replay.moments] == list(range(13))
    events, learner, found = train(run_of(name)), None, {}
    for event in events:
        if isinstance(event, Started):
            learner = event.learner
            text = to_watch(run.corpus, learner.objective, learner.entry.recipe.seq_len)
            batch = ReplayRecorder.of(learner, "reviews", text).batch
        if isinstance(event, Started | Stepped):
            found[learner.step] = read(learner.model, batch)
    for k, moment in enumerate(replay.moments):
        seen = found[moment["step"]]
        assert [g["loss"] for g in moment["guesses"]] == [round(g.loss, 4) for g in seen.guesses]
        for matrix, weights in replay.attention.items():
            n, m = weights.shape[-2:]
            assert torch.equal(weights[k], seen.weights[matrix][:, :, :n, :m])


def test_looking_does_not_change_the_run(tmp_path):
    run = run_of("ELECTRA", out=tmp_path)
    assert losses(watched(run, train(run))) == losses(train(run_of("ELECTRA")))


def test_the_curve_is_the_one_that_was_recorded(tmp_path):
    replay = kept(run_of("GPT", out=tmp_path))
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [loss for _, loss in replay.curve.training] == [
        next(iter(r["terms"].values())) for r in rows if "terms" in r
    ]
    assert [step for step, _ in replay.curve.held_out] == [r["step"] for r in rows if "held_out" in r]
    assert replay.curve.levels["unigram baseline"] == reviews().unigram_entropy


def test_bands_in_every_second_layer_are_drawn_as_they_run(tmp_path):
    replay = kept(run_of("GPT-3", out=tmp_path, steps=2))
    below, above = replay.record["frames"][-1]["matrices"]
    n = below["shape"][0]
    position = torch.arange(n)
    away = position[:, None] - position
    assert (below["title"], above["title"]) == ("Encoder, layers 1, 3 …", "Encoder, layers 2, 4 …")
    for number, (matrix, cells) in enumerate(((below, away >= 0), (above, (away >= 0) & (away < 4)))):
        states = torch.frombuffer(bytearray(b64decode(matrix["states"])), dtype=torch.uint8).reshape(n, n)
        assert matrix["every"] == number and torch.equal(states == VISIBLE, cells)
        assert torch.equal((replay.attention["encoder"][-1, number] > 0).any(0), cells)
    said = "Encoder, every second layer: each word may look only at itself and the 3 words before it"
    assert any(said in frame["caption"] for frame in replay.record["frames"])


@pytest.mark.slow
def test_the_curve_says_which_of_several_questions_it_is_of(tmp_path):
    assert kept(run_of("ELECTRA", out=tmp_path / "two")).curve.target == "hidden words"
    assert kept(run_of("GPT", out=tmp_path / "one")).curve.target == ""


def test_what_was_seen_before_a_run_is_stopped_is_kept(tmp_path):
    run = run_of(out=tmp_path, steps=9)
    events = watched(run, recorded(run, train(run)))
    while getattr(next(events), "step", 0) < 4:
        pass
    events.close()
    assert [m["step"] for m in load(tmp_path).moments] == [0, 1, 2, 3, 4]


def test_a_replay_that_cannot_be_read_stops_no_run(tmp_path):
    kept(run_of(out=tmp_path, steps=5))
    (tmp_path / FILE).write_bytes(b"not one number of it is left")
    replay = kept(run_of(out=tmp_path, steps=9), checkpoint.load(tmp_path).learner)
    assert [m["step"] for m in replay.moments] == [5, 6, 7, 8, 9]


def test_a_resumed_run_keeps_its_earlier_moments(tmp_path):
    kept(run_of(out=tmp_path, steps=5))
    saved = checkpoint.load(tmp_path)
    replay = kept(run_of(out=tmp_path, steps=9), saved.learner)
    assert [m["step"] for m in replay.moments] == list(range(10))
    assert all(len(weights) == 10 for weights in replay.attention.values())


def test_a_run_that_only_the_clock_ends_keeps_no_more_than_sixty():
    run = run_of()
    events = train(run)
    learner = next(e.learner for e in events if isinstance(e, Started))
    moments = ReplayRecorder.of(learner, "reviews", sentence_of(reviews()))
    for step in range(20_000):
        learner.step = step
        if moments.due(step):
            moments.look(learner)
    steps = [m["step"] for m in moments.replay(RecordedCurve()).moments]
    assert len(steps) <= MOST and steps[0] == 0 and steps[-1] > 17_000


@pytest.mark.parametrize("name", sorted(objectives()))
def test_every_objective_has_something_to_watch(name):
    objective = objectives()[name]
    run = Run(alone(objective), suited_reviews(objective), steps=1)
    learner = next(e.learner for e in train(run) if isinstance(e, Started))
    text = to_watch(run.corpus, learner.objective, 16)
    moments = ReplayRecorder.of(learner, run.corpus.name, text, 1)
    moments.look(learner)
    shapes = {m["name"]: tuple(m["shape"]) for m in moments.record["frames"][-1]["matrices"]}
    assert len(text.ids) == 1
    assert all(w.shape[-2] >= shapes[name][0] for name, w in moments.seen[0].weights.items())


def test_a_sentence_can_be_chosen(tmp_path):
    replay = kept(run_of(out=tmp_path, steps=2), text=read_input("the movie was good", reviews().tokenizer).tokens)
    assert replay.record["text"] == ["the", "movie", "was", "good"]


def test_a_damaged_record_is_a_sentence(tmp_path):
    kept(run_of(out=tmp_path, steps=2))
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "te', encoding="utf-8")
    with pytest.raises(UserError, match=r"damaged or of another version.*train it again"):
        load(tmp_path)


def test_a_run_without_moments_says_so(tmp_path):
    with pytest.raises(UserError, match=f"no {FILE}.*train it again"):
        load(tmp_path)
