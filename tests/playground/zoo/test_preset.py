"""Two recipes, one gradient however it is taken, and a search for the rate that leaves no trace."""

import json
from dataclasses import replace

import pytest
import torch
from torch import nn

from playground import cli, devices
from playground.errors import UserError
from playground.inplace_cross_entropy import inplace_cross_entropy
from playground.training import Stepped, train
from playground.training.accumulation import single_process
from playground.training.loop import prepared
from playground.training.lr_finder import LRFinderResult, TriedRate, find_rate
from playground.training.lr_schedule import lr_multiplier
from playground.training.train_state import Snapshot, TrainState
from playground.zoo.preset import FAST, PAPER, find_preset
from tests.runs import each_kind, losses, reviews, run_of, tiny

CPU = torch.device("cpu")


# the two recipes


def test_the_paper_recipe_begins_as_the_papers_did_and_the_fast_one_does_not():
    paper, quick = (prepared(run_of(entry=way(tiny()), steps=1)).learner for way in (PAPER, FAST))
    assert [type(o).__name__ for o in paper.optimisers] == ["AdamW"]
    assert [type(o).__name__ for o in quick.optimisers] == ["Muon", "AdamW"]
    assert hasattr(paper.model.network, "position_embedding")
    assert not hasattr(quick.model.network, "position_embedding")
    matrix = paper.model.token_embedding.weight
    assert float(matrix.detach().std()) == pytest.approx(0.02, rel=0.1)
    look = quick.model.layers[0].attn
    assert torch.allclose(look.out.weight @ look.value.weight, 0.1 * torch.eye(16), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "beta2", "decay"),
    [("BERT", 0.999, 0.01), ("RoBERTa", 0.98, 0.01), ("GPT", 0.999, 0.01), ("GPT-3", 0.95, 0.1)],
)
def test_the_paper_recipe_decays_what_the_papers_decay(name, beta2, decay):
    """BERT's code leaves out LayerNorm and bias, GPT's paper (sec. 4.1) all that is bias or gain; RoBERTa, sec. 3.1."""
    learner = prepared(run_of(entry=PAPER(tiny(name)), steps=1)).learner
    [adam], names = learner.optimisers, {p: n for n, p in learner.model.named_parameters()}
    assert {group["betas"] for group in adam.param_groups} == {(0.9, beta2)}
    found = {names[p]: group["weight_decay"] for group in adam.param_groups for p in group["params"]}
    norms = {p for m in learner.model.modules() if isinstance(m, nn.LayerNorm) for p in m.parameters()}
    assert found == {n: 0.0 if p in norms or n.endswith("bias") else decay for p, n in names.items()}
    before = {n: p.detach().clone() for p, n in names.items()}
    for group in adam.param_groups:
        group["lr"] = 0.1
    for p in names:
        p.grad = torch.zeros_like(p)
    adam.step()
    assert {n for p, n in names.items() if not torch.equal(p, before[n])} == {
        n for n in found if found[n] and before[n].any()
    }


def test_the_usual_recipe_is_one_adamw_that_decays_all():
    """As the bundled models were trained."""
    muon, adam = prepared(run_of(steps=1)).learner.optimisers
    assert [(group["betas"], group["weight_decay"]) for group in adam.param_groups] == [((0.9, 0.98), 0.01)]
    assert [group["weight_decay"] for group in muon.param_groups] == [0.01]


def test_a_turned_weight_decay_spares_what_is_spared():
    learner = prepared(run_of(entry=PAPER(tiny("BERT")), steps=1)).learner
    learner.turn({"weight_decay": 0.5, "adam_beta2": 0.9})
    assert [(g["weight_decay"], g["betas"]) for g in learner.optimisers[0].param_groups] == [
        (0.5, (0.9, 0.9)), (0.0, (0.9, 0.9))
    ]  # fmt: skip
    with pytest.raises(UserError, match="decay_norms cannot be changed in a running learner"):
        learner.turn({"decay_norms": True})


def test_the_paper_recipe_falls_to_zero():
    recipe = PAPER(tiny(steps=20)).recipe
    shares = [lr_multiplier(recipe, step) for step in range(21)]
    assert shares[:3] == [0.5, 1.0, 1.0]
    assert shares[2:] == sorted(shares[2:], reverse=True)
    assert shares[-1] == 0.0


@pytest.mark.slow
def test_the_fast_recipe_learns_sooner():
    corpus = reviews(120_000)
    entry = tiny("GPT", {"width": 32, "layers": 2}, steps=80, batch_size=16)
    last = {}
    for way in (PAPER, FAST):
        found = losses(train(run_of(entry=way(entry), corpus=corpus, steps=80, evaluate_every=1000)))
        last[way.name] = sum(found[-10:]) / 10
    assert last["fast"] < last["paper"] - 0.3


def test_an_unknown_recipe_is_refused_with_those_there_are():
    with pytest.raises(UserError, match="no recipe 'slow'; choose one of paper, fast"):
        find_preset("slow")


# one gradient


def gradients(learner, batch, accumulate):
    loss, terms, _ = single_process(learner.model, batch, accumulate, "float32")
    grads = {n: p.grad.clone() for n, p in learner.model.named_parameters() if p.grad is not None}
    learner.model.zero_grad(set_to_none=True)
    return float(loss), {k: float(v) for k, v in terms.items()}, grads


@each_kind
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_the_gradient_of_the_parts_is_that_of_the_batch(name, parts):
    course = prepared(run_of(name, steps=1))
    batch = course.blocks.at(0)
    loss, terms, whole = gradients(course.learner, batch, 1)
    again, same, joined = gradients(course.learner, batch, parts)
    assert again == pytest.approx(loss, rel=1e-5)
    assert same == pytest.approx(terms, rel=1e-5)
    assert whole.keys() == joined.keys()
    for key, value in whole.items():
        assert torch.allclose(joined[key], value, rtol=1e-3, atol=1e-5 * float(value.abs().max() + 1e-3)), key


def test_rows_with_few_answers_do_not_count_more_than_others():
    """The mean of the means of two halves is not the mean of all answers where the halves have unlike many."""
    course = prepared(run_of("RoBERTa", steps=1))
    batch = course.blocks.at(0)
    target = batch.targets[0]
    scored = target.loss_mask.clone()
    scored[:4] &= torch.arange(scored.shape[1]) < 6
    uneven = replace(batch, targets=(replace(target, loss_mask=scored),))
    assert scored[:4].sum() != scored[4:].sum()
    whole, parts = (single_process(course.learner.model, uneven, n, "float32")[0] for n in (1, 2))
    assert float(parts) == pytest.approx(float(whole), rel=1e-5)


def test_a_run_in_parts_is_the_run_at_once():
    once, parts = (losses(train(run_of(entry=tiny(grad_accum_steps=n, optimiser="adamw")))) for n in (1, 4))
    assert parts == pytest.approx(once, rel=1e-3)
    assert parts != once, "the sums are taken in another order"


def test_half_precision_trains_and_is_close():
    full, half = (losses(train(run_of("GPT", entry=tiny("GPT", precision=p)))) for p in ("float32", "bfloat16"))
    assert half == pytest.approx(full, rel=0.02)
    assert half != full


def test_half_precision_is_refused_where_it_is_missing():
    with pytest.raises(UserError, match=r"precision is 'bfloat16', but Apple GPU lacks it; set precision to float32"):
        devices.check_precision(torch.device("mps"), "bfloat16")


def test_only_scored_positions_reach_the_vocabulary():
    course = prepared(run_of("RoBERTa", steps=1))
    seen = []
    course.learner.model.lm_head.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    course.learner.learn(batch := course.blocks.at(0))
    assert seen == [int(batch.targets[0].loss_mask.sum())]


# devices


def test_a_device_that_computes_otherwise_is_not_offered(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(devices, "agrees", lambda name: False)
    assert devices.available() == ("cpu",)
    monkeypatch.setattr(devices, "agrees", lambda name: True)
    assert devices.available() == ("mps", "cpu")
    assert devices.pick().type == "mps"


def unable(tensor):
    raise NotImplementedError


@pytest.mark.parametrize("odd", [lambda t: t * 1.01, lambda t: t * float("nan"), unable])
def test_the_self_check_notices_a_wrong_device(odd, monkeypatch):
    devices.agrees.cache_clear()
    assert devices.agrees("cpu")
    right = devices._checked
    monkeypatch.setattr(devices, "_checked", lambda name: [odd(t) if name == "odd" else t for t in right("cpu")])
    assert not devices.agrees("odd")
    devices.agrees.cache_clear()


# the rate


@each_kind
def test_the_search_restores_everything_to_the_last_bit(name):
    whole = losses(train(run_of(name)))
    run, learner, seen = run_of(name), None, []
    for event in train(run):
        learner = getattr(event, "learner", learner)
        if isinstance(event, Stepped):
            seen.append(float(event.loss))
            if event.step == 5:
                before, noise = Snapshot.of(learner), torch.get_rng_state()
                list(find_rate(run, learner, steps=20))
                assert torch.equal(noise, torch.get_rng_state())
                assert all(torch.equal(v, before.weights[k]) for k, v in learner.model.state_dict().items())
    assert seen == whole


def test_a_search_that_is_left_halfway_restores_too():
    course = prepared(run_of())
    before = Snapshot.of(course.learner)
    search = find_rate(course.run, course.learner)
    [next(search) for _ in range(3)]
    search.close()
    assert course.learner.step == 0
    assert all(torch.equal(v, before.weights[k]) for k, v in course.learner.model.state_dict().items())


@pytest.mark.slow
def test_the_found_rate_is_neither_useless_nor_ruinous():
    entry = FAST(tiny("GPT", {"width": 32}, steps=60, batch_size=16))
    entry = replace(entry, recipe=replace(entry.recipe, optimiser="adamw"))
    run = run_of(entry=entry, corpus=reviews(120_000), steps=60, evaluate_every=1000)
    *tried, found = find_rate(run)
    assert all(isinstance(t, TriedRate) for t in tried)
    assert isinstance(found, LRFinderResult)
    assert found.tried == tuple(tried)

    def end(rate):
        turned = replace(entry, recipe=replace(entry.recipe, lr=rate))
        return sum(losses(train(replace(run, entry=turned)))[-5:]) / 5

    good = end(found.rate)
    assert good < end(found.rate / 30) - 0.2
    assert good < end(min(1.0, found.rate * 30)) - 0.2


@pytest.mark.slow
def test_playground_train_finds_a_rate_and_trains_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = tmp_path / "t.txt"
    corpus = reviews(4_000)
    text.write_text(corpus.tokenizer.join(corpus.ids.tolist()).replace("[SEP]", "\n\n"), encoding="utf-8")
    small = [a for k in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", k)]
    assert cli.main(["train", "RoBERTa", "--corpus", str(text), *small, "--find-rate", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert 1e-6 < said["rate"] < 1
    assert said["tried"][0]["rate"] < said["rate"]
    assert {p.name for p in tmp_path.iterdir()} == {"t.txt"}


# turning knobs of a running learner


def test_a_rate_that_is_turned_counts_from_the_next_step():
    course = prepared(run_of(steps=12))
    learner = course.learner
    plain = [float(learner.learn(course.blocks.at(k))[1]) for k in range(6)]
    other = prepared(run_of(steps=12))
    turned = []
    for k in range(6):
        if k == 3:
            other.learner.turn({"lr": 0.05, "muon_lr": 0.1})
        turned.append(float(other.learner.learn(other.blocks.at(k))[1]))
    assert turned[:4] == plain[:4]
    assert turned[4:] != plain[4:]


def test_what_cannot_be_turned_is_refused():
    learner = TrainState.new(tiny(), reviews().tokenizer.words, 0, CPU)
    with pytest.raises(UserError, match="batch_size cannot be changed in a running learner; fork the run instead"):
        learner.turn({"batch_size": 9})


def test_our_cross_entropy_is_torchs_and_so_is_its_gradient():
    rng = torch.Generator().manual_seed(1)
    scores = torch.randn(600, 9, generator=rng, dtype=torch.float64)
    scores[0, 3] = float("-inf")
    right = torch.randint(4, 9, (600,), generator=rng)
    weights = torch.rand(600, generator=rng, dtype=torch.float64)
    found = []
    for loss in (inplace_cross_entropy, lambda s, r: nn.functional.cross_entropy(s, r, reduction="none")):
        leaf = scores.clone().requires_grad_()
        losses_ = loss(leaf * 2, right)
        (losses_ * weights).sum().backward()
        found.append((losses_.detach(), leaf.grad))
    assert torch.allclose(found[0][0], found[1][0])
    assert torch.allclose(found[0][1][1:], found[1][1][1:])


def test_scores_are_written_over_only_where_they_may_be_consumed():
    ready = prepared(run_of(entry=tiny(), steps=1))
    with torch.no_grad():
        (answer,) = ready.learner.model(ready.blocks.at(0))
    before = answer.scores.detach().clone()
    plain = answer.losses()
    assert torch.equal(answer.scores, before)
    consumed = answer.losses(consume=True)
    assert not torch.equal(answer.scores, before)
    torch.testing.assert_close(plain, consumed)


def test_its_gradient_is_taken_once():
    leaf = torch.randn(3, 4, requires_grad=True)
    loss = inplace_cross_entropy(leaf, torch.tensor([0, 1, 2])).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="already taken"):
        loss.backward()
