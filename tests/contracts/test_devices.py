"""Training, a look, a checkpoint and fine-tuning are where the run says: no tensor is left on the CPU or made there."""

from contextlib import nullcontext
from copy import deepcopy
from math import isfinite

import pytest
import torch

from playground import cli, devices
from playground.corpora import open_corpus
from playground.finetuning import compare, find_task, strategies
from playground.finetuning.apply.text_editing import editor, success
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.trainer import Base
from playground.finetuning.run.tune import StepEvent
from playground.models.model import Network
from playground.objectives import find_objective, objectives
from playground.posttraining import PostTraining, draw_prompts, find_method, find_reward, methods, post_train
from playground.rng import generator
from playground.training import checkpoint, data
from playground.training.loop import prepared
from playground.training.observe.look import ProbeSentence, to_watch
from playground.training.own_text import save_run
from tests.runs import (
    alone,
    each_kind,
    every_entry_or_kind,
    feed_of,
    learner_of,
    reviews,
    run_of,
    sampled,
    suited_reviews,
)
from tests.second_device import MixedDevices, another_device, second_device

OBJECTIVES = ("MLM", "PLM", "GloVe", "CVT", "T5 spans")
OWN_BASES = {"decoder first": "T5", "new decoder": "T5", "new encoder": "BART"}
STRATEGIES = ("full", "LoRA", "DoRA", "VeRA", "prompt tuning", "layer mix", "replay", "rewritten texts", "adversarial")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Batches are cut from a block of two steps: each operation of that device goes by way of Python."""
    monkeypatch.setattr(data, "STEPS", 2)


@every_entry_or_kind
def test_an_entry_trains_and_is_looked_into_on_another_device_than_the_cpu(name):
    with another_device() as device:
        state = prepared(run_of(name, device=device))
        [stepped] = state.step()
        assert isfinite(float(stepped.loss))
        model = state.learner.model.eval()
        assert {p.device for p in model.parameters()} == {device}
        assert model.features(state.blocks.feed.evaluation(8)).device == device
        assert all(weights.device == device for weights in model.attention(stepped.batch).values())


@every_entry_or_kind
def test_an_entry_is_watched_kept_and_goes_on_there(name, tmp_path):
    with another_device() as device:
        run = run_of(name, device=device)
        state = prepared(run)
        list(state.step())
        seen = ProbeSentence(to_watch(run.corpus, state.learner.objective, 16))(state.learner)
        assert seen.guesses or seen.unscored
        saved = checkpoint.load(save_run(tmp_path, state.learner, run.corpus, state.held_out), device)
        there, here = (float(next(iter(one.step())).loss) for one in (prepared(run, saved.learner), state))
        assert there == here


@pytest.mark.parametrize("name", sampled(objectives(), OBJECTIVES))
def test_an_objective_trains_there(name):
    objective = find_objective(name)
    with another_device() as device:
        state = prepared(run_of(entry=alone(objective), corpus=suited_reviews(objective), device=device))
        [stepped], [evaluated] = state.step(), state.evaluate()
        assert isfinite(float(stepped.loss)) and isfinite(evaluated.held_out)


@pytest.mark.parametrize("parallelism", ["vmap", "processes"])
@pytest.mark.parametrize("name", sampled(strategies(), STRATEGIES))
def test_a_strategy_learns_there_apart_and_stacked(name, parallelism):
    entry = OWN_BASES.get(name, "RoBERTa")
    corpus, task = (
        (open_corpus("parallel", tokens=20_000), "translation") if entry == "T5" else (reviews(), "sentiment")
    )
    with another_device() as device:
        state = prepared(run_of(entry, corpus=corpus, device=device))
        base = Base(state.learner, state.blocks.feed.evaluation(8))
        spec = ComparisonSpec(
            task=task, strategies=(name,), train_sizes=(8,), seeds=2, steps=2, parallelism=parallelism
        )
        *trials, result = compare(base, corpus.tokenizer, spec)
        losses = [one.event.loss for one in trials if isinstance(one.event, StepEvent)]
        assert all(map(isfinite, losses)) and len(losses) == 4 * (not strategies()[name].prompt)
        assert len(result.outcomes[name]) == 2


@pytest.mark.parametrize("name", list(methods()))
def test_a_method_of_post_training_learns_there(name):
    with another_device() as device:
        state = prepared(run_of("GPT", corpus=reviews(), device=device))
        base = Base(state.learner, state.blocks.feed.evaluation(8))
        space = draw_prompts(reviews(), 2, 4, generator(0))
        run = PostTraining(base, space, find_reward("grammatical"), find_method(name), steps=2, measure_every=1)
        assert all(isfinite(event.kl_to_optimum) and isfinite(event.forgetting) for event in post_train(run))


def test_the_vectors_of_another_model_are_read_there():
    with another_device() as device:
        learner, other = (prepared(run_of(name, device=device)).learner for name in ("RoBERTa", "GPT"))
        base = Base(learner, feed_of().evaluation(8).to(device), extra_encoders=(other,))
        spec = ComparisonSpec(strategies=("static and contextual",), train_sizes=(8,), seeds=1, steps=2)
        *_, result = compare(base, reviews().tokenizer, spec)
        assert len(result.outcomes["static and contextual"]) == 1


def test_a_sentence_is_edited_there():
    with another_device() as device:
        base, task = Base(prepared(run_of(device=device)).learner, feed_of().evaluation(8).to(device)), "sentiment"
        made = editor(base, reviews().tokenizer, find_task(task), 16, 2, 0)
        assert made.edit(["the", "film", "was", "good", "."], "bad").after
        assert success(made, find_task(task), 2).texts == 2


def test_the_command_compares_there(tmp_path, monkeypatch, capsys):
    run, seen, start = run_of(), [], ComparisonSpec.start
    save_run(tmp_path, learner_of(), run.corpus, prepared(run).held_out)
    monkeypatch.setattr(ComparisonSpec, "start", lambda self, saved: seen.append(saved.learner) or start(self, saved))
    line = [
        "compare",
        str(tmp_path),
        "--strategies",
        "full",
        "--train-size",
        "8",
        "--seeds",
        "1",
        "--tuning-steps",
        "2",
    ]
    with another_device() as device:
        monkeypatch.setattr(devices, "available", lambda: (device.type, "cpu"))
        assert cli.main(line) == cli.main([*line, "--device", "cpu"]) == 0
        assert [learner.device for learner in seen] == [device, torch.device("cpu")]
    assert capsys.readouterr().out.count("full") >= 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@every_entry_or_kind
def test_a_gpu_computes_the_loss_and_the_gradients_of_the_cpu(name):
    state = prepared(run_of(name))
    here, batch, gpu = state.learner.model, state.blocks.at(0), torch.device("cuda", 0)
    there = deepcopy(here).to(gpu)
    losses = [
        state.learner.gradient(model, one, 1, "float32").loss
        for model, one in ((here, batch), (there, devices.from_cpu(batch, gpu)))
    ]
    assert float(losses[1]) == pytest.approx(float(losses[0]), rel=devices.TOLERANCE)
    for (part, a), b in zip(here.named_parameters(), there.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None), part
        if a.grad is not None:
            assert (a.grad - b.grad.cpu()).abs().max() <= devices.TOLERANCE * (1 + a.grad.abs().max()), part


@each_kind
def test_it_learns_there_what_it_learns_on_the_cpu(name):
    here, there = [], []
    for losses, device in ((here, second_device()), (there, nullcontext(torch.device("cpu")))):
        with device as where:
            state = prepared(run_of(name, device=where))
            stepped, evaluated = *state.step(), *state.evaluate()
            losses += [float(stepped.loss), evaluated.held_out]
    assert there == pytest.approx(here, abs=1e-4)


@each_kind
def test_a_constant_that_is_made_on_the_cpu_in_a_forward_pass_is_found(name, monkeypatch):
    embed = Network._finish
    monkeypatch.setattr(Network, "_finish", lambda self, x, *how: embed(self, x, *how) + torch.zeros(x.shape[-1]))
    with second_device() as device, pytest.raises(MixedDevices, match=r"aten::add of meta .*, cpu"):
        list(prepared(run_of(name, device=device)).step())


def test_numbers_and_indices_may_come_from_the_cpu_and_nothing_else():
    with second_device() as device:
        there, here = torch.arange(6, device=device), torch.arange(6)
        assert (there * torch.tensor(2)).tolist() == [0, 2, 4, 6, 8, 10]
        assert there[here[:2]].device == there.to(device).device == here.to(device).device == device
        assert torch.equal(there.cpu(), here)
        for mixed in (lambda: there + here, lambda: here[there], lambda: torch.cat([there, here])):
            with pytest.raises(MixedDevices):
                mixed()
        with pytest.raises(MixedDevices, match="rand on cpu by a generator of meta"):
            torch.rand(3, generator=generator(0, device=device))
        with pytest.raises(MixedDevices, match="rand on meta by a generator of cpu"):
            torch.rand(3, generator=generator(0), device=device)
