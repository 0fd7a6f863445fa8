"""The teacher and data2vec: the moving average, targets and their loss, what is saved, and the gauge of collapse."""

from dataclasses import replace

import pytest
import torch

from playground.answers import EFFECTIVE_RANK, effective_rank
from playground.batch import Action
from playground.models import total_loss
from playground.models.cost import PASSES, forward_flops, step_flops
from playground.objectives import find_objective
from playground.rng import generator
from playground.training import checkpoint
from playground.training.fork import fork
from playground.training.loop import Run, prepared, train
from playground.training.train_state import Snapshot
from playground.zoo import entry_named
from tests.texts import small_corpus

ENTRY = entry_named("data2vec")


def a_run(steps=4, entry=ENTRY, **more):
    entry = replace(entry, model=replace(entry.model, width=16, heads=2))
    entry = replace(entry, recipe=replace(entry.recipe, batch_size=8, steps=steps))
    return Run(entry, small_corpus(entry.corpus), seed=0, evaluate_every=steps, **more)


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def parts(state, owner):
    return {name.removeprefix(f"{owner}."): v for name, v in state.items() if name.startswith(f"{owner}.")}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in one.items())


def test_it_begins_as_the_network_and_then_is_its_moving_average():
    """Recomputed from the weights after every step; embeddings are the network's own."""
    state = prepared(a_run(steps=10))
    model, stage = state.learner.model, state.learner.objective.teacher
    assert same(parts(weights(model), "teacher"), parts(weights(model), "network"))
    expected = {name: value.double() for name, value in parts(weights(model), "network").items()}
    for step in range(1, 6):
        list(state.step())
        decay = 0.999 + 0.0009 * min(1, step / 3)
        assert stage.decay(step, 10) == pytest.approx(decay, abs=1e-12)
        for name, value in parts(weights(model), "network").items():
            kept = decay if name.startswith("encoder.") else 0.0
            expected[name] = kept * expected[name] + (1 - kept) * value.double()
    found = parts(weights(model), "teacher")
    assert found.keys() == expected.keys()
    for name, value in found.items():
        torch.testing.assert_close(value.double(), expected[name], rtol=1e-5, atol=1e-7)
    moved = [name for name, value in parts(weights(model), "network").items() if not torch.equal(value, found[name])]
    assert moved and all(name.startswith("encoder.") for name in moved)


@pytest.mark.parametrize("decay", [0.0, 1.0])
def test_with_a_decay_of_0_it_is_the_network_and_with_1_it_is_frozen(decay):
    state = prepared(a_run(entry=ENTRY.asking({"ema_decay": decay, "ema_end_decay": decay})))
    before = parts(weights(state.learner.model), "teacher")
    for _ in range(3):
        list(state.step())
    after = weights(state.learner.model)
    averaged = {name: v for name, v in parts(after, "teacher").items() if name.startswith("encoder.")}
    expected = before if decay else parts(after, "network")
    assert same(averaged, {name: expected[name] for name in averaged})


def naive_states(teacher, batch, table, layers):
    """What the MLPs give, layer by layer: norms after each part, full attention, no padding."""
    kept = []
    for block in teacher.encoder.blocks:
        block.mlp.register_forward_hook(lambda _, __, out: kept.append(out))
    teacher(batch, table)
    states = []
    for out in kept[-layers:]:
        mean, spread = out.mean(-1, keepdim=True), out.var(-1, unbiased=False, keepdim=True)
        states.append((out - mean) / (spread + 1e-5).sqrt())
    return sum(states) / len(states)


@pytest.mark.parametrize("layers", [1, 10])
@pytest.mark.parametrize("beta", [4.0, 0.5, 0.0])
def test_the_targets_and_the_loss_are_those_of_the_paper(layers, beta):
    """The teacher reads the text without [MASK]; each number of each vector by hand."""
    entry = ENTRY.asking({"average_top_k_layers": layers, "loss_beta": beta})
    state = prepared(a_run(entry=entry))
    list(state.step())
    model, batch = state.learner.model, state.blocks.at(1)
    (answer,) = model(batch)
    clean = replace(batch.inputs, ids=batch.tokens.ids)
    states = naive_states(model.teacher, clean, model.token_embedding.weight, layers)
    torch.testing.assert_close(answer.labels, states[answer.rows, answer.positions], rtol=1e-4, atol=1e-5)
    assert bool((batch.inputs.ids[answer.rows, answer.positions] == batch.tokens.specials.mask).all())
    total = 0.0
    for found, wanted in zip(answer.scores.tolist(), answer.labels.tolist(), strict=True):
        apart = [abs(a - b) for a, b in zip(found, wanted, strict=True)]
        if beta:
            total += sum(d * d / (2 * beta) if d < beta else d - beta / 2 for d in apart)
        else:
            total += sum(d * d for d in apart) / len(apart) ** 0.5
    assert float(total_loss([answer])[0].detach()) == pytest.approx(total / len(answer.labels), rel=1e-4)


def test_no_gradient_reaches_the_teacher_and_no_optimiser_has_it():
    state = prepared(a_run())
    model, batch = state.learner.model, state.blocks.at(0)
    (answer,) = model(batch)
    assert answer.scores.requires_grad and not answer.labels.requires_grad
    assert not list(model.teacher.parameters()) and not [n for n, _ in model.named_parameters() if "teacher" in n]
    before = parts(weights(model), "teacher")
    total_loss([answer])[0].backward()
    assert same(parts(weights(model), "teacher"), before)


def test_it_reads_with_all_its_numbers_where_the_network_drops_some():
    entry = replace(ENTRY, model=replace(ENTRY.model, dropout=0.5))
    state = prepared(a_run(entry=entry))
    model, batch = state.learner.model, state.blocks.at(0)
    with state.learner.dropping():
        first, second = (model(batch)[0] for _ in range(2))
    assert torch.equal(first.labels, second.labels) and not torch.equal(first.scores, second.scores)


def test_only_masks_are_asked_where_selected_words_may_stay():
    objective = find_objective("data2vec")
    changing = find_objective("MLM").stages[2]
    mixed = replace(objective, stages=tuple(changing if s.verb == "change" else s for s in objective.stages))
    run = a_run()
    batch = mixed.batch(prepared(run).held_out, generator(0))
    (target,) = batch.targets
    assert 0 < int(target.loss_mask.sum()) < int(batch.selected.sum())
    assert torch.equal(target.loss_mask, batch.actions == Action.MASKED)


def test_a_run_goes_on_bit_for_bit_with_its_teacher(tmp_path):
    whole = prepared(a_run(steps=6))
    for _ in range(6):
        list(whole.step())
    run = a_run(steps=6)
    half = prepared(run)
    for _ in range(3):
        list(half.step())
    path = checkpoint.save(
        tmp_path / "checkpoint.safetensors", half.learner, run.corpus.tokenizer,
        checkpoint.CorpusInfo(run.corpus.name, run.corpus.hash, 0.0, half.held_out),
    )  # fmt: skip
    again = prepared(run, checkpoint.load(path).learner)
    assert same(weights(again.learner.model), weights(half.learner.model))
    for _ in range(3):
        list(again.step())
    assert same(weights(again.learner.model), weights(whole.learner.model))
    before = parts(weights(half.learner.model), "teacher")
    kept = Snapshot.of(half.learner)
    list(half.step())
    kept.restore(half.learner)
    assert same(parts(weights(half.learner.model), "teacher"), before)


def test_a_fork_keeps_the_teacher_and_a_new_one_begins_with_the_kept_weights():
    run = a_run()
    state = prepared(run)
    for _ in range(2):
        list(state.step())
    forked = fork(run, state.learner, {"lr": 0.001})
    assert same(weights(forked.learner.model), weights(state.learner.model))
    list(prepared(forked.run, forked.learner).step())
    plain = a_run(entry=entry_named("RoBERTa"))
    trained = prepared(plain)
    for _ in range(2):
        list(trained.step())
    other = fork(plain, trained.learner, {"objective": "data2vec"})
    assert other.fresh == ("regression_head",)
    kept = parts(weights(trained.learner.model), "network")
    assert same(parts(weights(other.learner.model), "teacher"), kept)
    list(prepared(other.run, other.learner).step())
    assert not same(parts(weights(other.learner.model), "teacher"), kept)


def test_what_the_teacher_reads_is_in_the_price_once():
    state = prepared(a_run())
    model, batch = state.learner.model, state.blocks.at(0)
    whole = forward_flops(model, batch)
    price = step_flops(model, batch)
    assert PASSES * whole > price > whole
    taught = (PASSES * whole - price) / (PASSES - 1)
    assert 0.3 * whole < taught < 0.5 * whole, "half of all reading, without the head"


def test_the_loss_falls_and_the_targets_do_not_collapse():
    events = [e for e in train(a_run(steps=60)) if type(e).__name__ == "Evaluated"]
    first, last = events[0], events[-1]
    assert last.held_out < 0.7 * first.held_out
    assert last.gauges[EFFECTIVE_RANK] > 5  # of 16
    assert last.accuracy == {}


def test_the_effective_rank_is_1_where_all_states_are_the_same_and_nearly_full_for_random_ones():
    rng = generator(0)
    vectors = torch.randn(2000, 16, generator=rng)
    assert effective_rank(vectors) == pytest.approx(16, abs=0.1)
    assert effective_rank(vectors[:1].expand(2000, -1)) == pytest.approx(1, abs=1e-6)
    assert effective_rank(vectors[:1] + 1e-4 * vectors) < 1.01
    assert effective_rank(torch.eye(16)[torch.arange(2000) % 4]) == pytest.approx(4)
    assert effective_rank(torch.zeros(3, 16)) == 1.0
    assert effective_rank(vectors[:0]) == 1.0


def test_a_planted_collapse_shows_in_the_gauge_of_a_run():
    """A teacher whose top MLPs give the same for every word."""
    entry = ENTRY.asking({"average_top_k_layers": 1, "ema_decay": 1.0, "ema_end_decay": 1.0})
    state = prepared(a_run(entry=entry))
    healthy = state.learner.measure(state.held_out).gauges[EFFECTIVE_RANK]
    top = state.learner.model.teacher.encoder.blocks[-1].mlp.fc2
    top.weight.zero_()
    top.bias.copy_(torch.arange(len(top.bias)))
    collapsed = state.learner.measure(state.held_out).gauges[EFFECTIVE_RANK]
    assert collapsed == pytest.approx(1, abs=1e-3) and healthy > 3
