"""Inside one update: the copy does to the bit what training does, the run notices nothing, the frames are true."""

import base64
from dataclasses import replace
from math import sqrt

import pytest
import torch

from playground.analysis.predictions import read
from playground.models import total_loss
from playground.models.groups import layer_groups
from playground.objectives import objectives
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.training import Run, Started, Stepped, train
from playground.training.data import BatchSampler, Prefetcher, steps_together
from playground.training.observe.update import coming, look_inside, record
from tests.runs import alone, each_kind, every_objective_or_row, losses, run_of, suited_reviews, tiny

BEFORE = 5


def feed_of(run):
    recipe = run.entry.recipe
    needs, continues = run.entry.objective.needs, run.entry.continues
    return BatchSampler.of(run.corpus, recipe.seq_len, recipe.batch_size, run.seed, run.device, needs, continues)


def stopped(run, after=BEFORE):
    """The learner of a run that rests before its next step, and the events that are still to come."""
    events, learner = train(run), None
    for event in events:
        learner = event.learner if isinstance(event, Started) else learner
        if isinstance(event, Stepped) and event.step == after:
            break
    return learner, events


def state(learner):
    moments = [v for o in learner.optimisers for s in o.state_dict()["state"].values() for v in s.values()]
    return [*learner.model.state_dict().values(), *(m for m in moments if torch.is_tensor(m))]


@each_kind
def test_the_copy_takes_the_very_step_that_training_takes_and_the_run_does_not_notice(name):
    run = run_of(name)
    learner, events = stopped(run)
    kept, feed = [t.clone() for t in state(learner)], feed_of(run)
    asked = specimens(learner.objective, feed.evaluation(), generator(0, "asked"))
    overrides = Prefetcher(feed, learner, steps_together(learner.objective, asked, feed)).at(learner.step)
    _, batch = coming(learner, feed)
    assert torch.equal(batch.inputs.ids, overrides.inputs.ids), "the batch that the blocks will give"
    assert all(torch.equal(a.loss_mask, b.loss_mask) for a, b in zip(batch.targets, overrides.targets, strict=True))
    update = look_inside(learner, feed)
    assert all(torch.equal(a, b) for a, b in zip(kept, state(learner), strict=True))
    stepped = next(e for e in events if isinstance(e, Stepped))
    assert update.learner.step == learner.step == stepped.step == BEFORE + 1
    assert update.losses[0] == float(stepped.loss) and update.share == stepped.rate
    assert all(torch.equal(a, b) for a, b in zip(state(update.learner), state(learner), strict=True))
    assert losses([stepped, *events]) == losses(train(run_of(name)))[BEFORE:]


def test_gradient_and_change_are_those_of_the_parameters():
    run = run_of("RoBERTa")
    learner, _ = stopped(run)
    update = look_inside(learner, feed_of(run))
    old, new = (dict(model.named_parameters()) for model in (learner.model, update.learner.model))
    for group in update.groups:
        names = layer_groups(learner.model)[group.name]
        assert group.change == pytest.approx(
            sqrt(sum(float(((new[n] - old[n]) ** 2).sum().detach()) for n in names)), rel=1e-4
        )
    _, batch = coming(learner, feed_of(run))
    total_loss(learner.model(batch))[0].backward()
    total = sqrt(sum(float((p.grad**2).sum()) for p in learner.model.parameters() if p.grad is not None))
    assert update.gradient == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("row", [0, 3])
def test_the_frames_show_the_row_that_trained_and_what_the_model_said_of_it(row):
    run = run_of("RoBERTa")
    learner, _ = stopped(run)
    update = look_inside(learner, feed_of(run), row)
    made = record(update, "reviews")
    _, batch = coming(learner, feed_of(run))
    vocabulary = batch.tokens.vocabulary
    lane = next(part for part in made["frames"][-1]["lanes"] if part["name"] == "inputs")
    real = batch.inputs.valid[row]
    assert [c["text"] for c in lane["cells"]] == [vocabulary[i] for i in batch.inputs.ids[row][real].tolist()]
    seen = read(learner.model, batch, row)
    assert [g["truth"] for g in made["numbers"]["guesses"]] == [g.truth for g in seen.guesses]
    assert [g["position"] for g in made["numbers"]["after"]] == [g.position for g in seen.guesses]
    data = base64.b64decode(made["numbers"]["attention"]["encoder"]["data"]["0"])
    assert data == seen.weights["encoder"][0][:, real][:, :, real].numpy().tobytes()
    names = [frame["name"] for frame in made["frames"]]
    assert names[-6:] == ["forward", "predict", "loss", "gradient", "change", "after"]


@every_objective_or_row
def test_every_objective_can_be_looked_into(name):
    objective = objectives()[name]
    run = Run(alone(objective), suited_reviews(objective), steps=3)
    learner, _ = stopped(run, 1)
    update = look_inside(learner, feed_of(run))
    made = record(update, "reviews")
    numbers = made["numbers"]
    assert [g["name"] for g in numbers["groups"]] == list(layer_groups(learner.model))
    assert (update.gradient > 0) == (update.losses[0] > 0), "what costs something pulls"
    assert any(g["change"] > 0 for g in numbers["groups"]) or not update.losses[0]
    shapes = {m["name"]: m["shape"] for m in made["frames"][-1]["matrices"]}
    for matrix, told in numbers["attention"].items():
        n, m = shapes[matrix]
        assert all(len(base64.b64decode(d)) == told["heads"] * n * m for d in told["data"].values())
    assert set(made["frames"][-1]) >= {"lanes", "matrices", "caption"} and all(made["frames"][-1]["caption"])


def test_a_row_of_a_batch_that_is_shared_out_shows_the_stages_of_its_own_part():
    run = run_of(entry=replace(tiny("UniLM"), phases=()))
    learner, _ = stopped(run)
    parts = learner.objective.parts
    for row in range(6):
        update = look_inside(learner, feed_of(run), row)
        part = parts[update.steps[0].plan.index]
        assert [step.stage for step in update.steps[1:]] == list(part.stages)
        last = update.steps[-1].batch
        assert [target.name for target in last.targets] == [term.target for term in part.terms]
        assert all(len(step.batch.tokens.ids) == 1 for step in update.steps)
        assert {term["target"] for term in record(update, "world")["terms"]} == {target.name for target in last.targets}


def test_a_tiny_entry_is_described_in_full_sentences():
    run = run_of(entry=tiny("RoBERTa"))
    learner, _ = stopped(run)
    captions = record(look_inside(learner, feed_of(run)), "reviews")["numbers"]["captions"]
    assert set(captions) == {"forward", "predict", "loss", "gradient", "change", "after"}
    assert all(c.endswith(".") for c in captions.values())
