"""How often Python waits for a device that computes beside it: at a look once, in a step of fine-tuning never."""

from contextlib import nullcontext

import pytest
import torch

from playground.corpora import open_corpus
from playground.finetuning import find_task, strategies
from playground.finetuning.run.stacked import TrialStack, why_not_stackable
from playground.finetuning.run.trainer import Base, FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.strategy import texts_for
from playground.objectives import find_objective
from playground.training import data
from playground.training.loop import prepared
from playground.training.observe.look import ProbeSentence, to_watch
from tests.runs import alone, every_entry_or_kind, every_objective_or_row, reviews, run_of, sampled, suited_reviews
from tests.second_device import SecondTensor, second_device
from tests.waits import Asked

ASKS = {
    "rewritten texts": (1, "the number of gaps, which are drawn in every step"),
    "self-training": (1, "the number of answers of which the model is sure"),
}
"""How often a step must ask, and for what; all other strategies know before a step what it reads."""

OWN_BASES = {"decoder first": "T5", "new decoder": "T5", "new encoder": "BART"}
CHOSEN = (
    "full",
    "LoRA",
    "gradual unfreezing",
    "ELMo at the input",
    "decoder first",
    "replay",
    "auxiliary LM loss",
    "FreeLB",
    *ASKS,
)
LEARNING = tuple(name for name, strategy in strategies().items() if not strategy.prompt)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(data, "STEPS", 2)


def looks_alike(run_on):
    """Two looks there, each of one wait, show what the CPU shows."""
    run = run_on(torch.device("cpu"))
    look = ProbeSentence(to_watch(run.corpus, run.entry.watched, 16))
    with second_device() as device:
        learner = prepared(run_on(device)).learner
        for _ in range(2):
            with Asked(SecondTensor) as asked:
                there = look(learner)
            assert asked.seen.total() == 1, asked.seen
    here = ProbeSentence(look.sentence)(prepared(run).learner)
    for mine, its in zip(here.guesses, there.guesses, strict=True):
        assert (mine.target, mine.position, mine.truth) == (its.target, its.position, its.truth)
        assert dict(mine.top) == pytest.approx(dict(its.top), rel=1e-5)
        assert mine.loss == pytest.approx(its.loss, rel=1e-5)
    assert here.unscored == there.unscored
    assert all(torch.equal(here.weights[matrix], there.weights[matrix]) for matrix in there.weights)


@every_entry_or_kind
def test_a_look_at_an_entry_waits_once_also_where_it_draws(name):
    looks_alike(lambda device: run_of(name, device=device))


@every_objective_or_row
def test_a_look_at_an_objective_waits_once_also_where_it_draws(name):
    objective = find_objective(name)
    looks_alike(lambda device: run_of(entry=alone(objective), corpus=suited_reviews(objective), device=device))


def trials_of(name, device):
    """Two trials of a strategy on a device, and whether they can be stacked."""
    strategy, entry, setting = strategies()[name], OWN_BASES.get(name, "RoBERTa"), FinetuneConfig(8, 4)
    corpus = open_corpus("parallel", tokens=20_000) if entry == "T5" else reviews()
    task, state = (
        find_task("translation" if entry == "T5" else "sentiment"),
        prepared(run_of(entry, corpus=corpus, device=device)),
    )
    base = Base(state.learner, state.blocks.feed.evaluation(8), tokenizer=corpus.tokenizer, task=task)
    load = texts_for(base.learner, task, [strategy], corpus.tokenizer)
    texts = [load(16, seed, "train") for seed in (0, 1)]
    trials = [Finetuner(base, strategy, numbered(each, base), setting, seed) for seed, each in enumerate(texts)]
    return trials, not why_not_stackable(base, strategy, texts[0])


@pytest.mark.parametrize("name", sampled(LEARNING, CHOSEN))
def test_a_step_of_fine_tuning_waits_for_nothing_apart_and_stacked(name):
    """And it begins to learn there what it learns on the CPU."""
    [here, _], _ = trials_of(name, torch.device("cpu"))
    with second_device() as device:
        [there, _], stackable = trials_of(name, device)
        losses = [(float(there.learn(step)), float(here.learn(step))) for step in range(5)]
        assert [one for one, _ in losses[:2]] == pytest.approx([other for _, other in losses[:2]], abs=1e-4)
        learns = [there.learn]
        if stackable:
            learns.append(TrialStack(trials_of(name, device)[0]).learn)
            for step in range(5):
                learns[1](step)
        for learn in learns:
            for step in range(5, 8):
                with Asked(SecondTensor) as asked:
                    learn(step)
                assert asked.seen.total() <= ASKS.get(name, (0,))[0], asked.seen


def test_losses_of_fine_tuning_are_read_some_steps_at_once_and_before_an_evaluation(monkeypatch):
    learn, setting = Finetuner.learn, FinetuneConfig(24, 4, looks=2)
    taken, events = {}, {}
    for where in (nullcontext(torch.device("cpu")), second_device()):
        with where as device:
            steps = taken[device.type] = []
            monkeypatch.setattr(
                Finetuner, "learn", lambda self, step, steps=steps: steps.append(step) or learn(self, step)
            )
            (trial, _), _ = trials_of("LoRA", device)
            texts = trial.train, trial.train
            events[device.type] = [
                (event, len(steps)) for event in tune(trial.base, trial.strategy, *texts, setting, 0)
            ]
    (*here, _), (*there, _) = events.values()
    assert [steps for _, steps in here] == [*range(1, 25)]
    assert [steps for _, steps in there] == [10] * 10 + [12] * 2 + [22] * 10 + [24] * 2
    for (one, _), (other, _) in zip(here, there, strict=True):
        assert one.step == other.step and torch.equal(one.rates, other.rates)
        assert one.loss == pytest.approx(other.loss, abs=1e-4) and (one.look is None) == (other.look is None)
    assert [event.step for event, _ in there if event.look] == [12, 24]
