"""What every fine-tuning strategy of the catalogue owes: a card, a plan that is obeyed, parts that are truly frozen."""

import re
from functools import cache

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from playground import finetuning as room
from playground.finetuning import find_strategy, find_task, strategies
from playground.finetuning import tune as tune_module
from playground.finetuning.tune import HEAD, Base, Outcome, Setting, Tuned, tune
from playground.models import LanguageModel
from playground.refusal import Refusal
from playground.training.feed import Feed
from tests.runs import ENTRIES, learner_of, reviews

NAMES = tuple(strategies())
SETTING = Setting(steps=9, batch=4)
every_strategy = pytest.mark.parametrize("name", NAMES)
on_every_entry = pytest.mark.parametrize("entry", ENTRIES)
GROUPS = ("embeddings", "layer 1", "layer 2", "layer 3", "top", HEAD)


@cache
def base_of(entry, positions="rotary"):
    """A tiny learner after a few steps, and its held-out text."""
    learner = learner_of(entry, model={"positions": positions})
    feed = Feed.of(reviews(), 16, 8, 0, learner.device)
    for step in range(3):
        learner.learn(learner.example(feed.at(step)))
    return Base(learner, feed.evaluation(8))


@cache
def texts(split, seed=0):
    return find_task("sentiment").load(reviews().tokenizer, 24, seed, split)


class Watched:
    """A fine-tuning run with a copy of all its weights before the first and after every step."""

    def __init__(self, strategy, entry="BERT", seed=0, positions="rotary"):
        self.snapshots, self.rates, self.remembered, self.events = [], [], [], []
        base, make = base_of(entry, positions), tune_module.parameters

        def parameters(model, head):
            self.groups = make(model, head)
            self.snapshots.append(self.copy())
            return self.groups

        handle = register_optimizer_step_pre_hook(self.look)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tune_module, "parameters", parameters)
            for event in tune(base, strategy, texts("train"), texts("test"), SETTING, seed):
                self.events.append(event)
                if isinstance(event, Tuned):
                    self.snapshots.append(self.copy())
        handle.remove()
        self.outcome = self.events[-1]

    def look(self, optimiser, *_):
        self.rates.append([g["lr"] for g in optimiser.param_groups])
        groups = zip(self.groups, optimiser.param_groups, strict=True)
        self.remembered.append({g for g, got in groups if any(p in optimiser.state for p in got["params"])})

    def copy(self):
        return {name: [p.detach().clone() for p in parameters] for name, parameters in self.groups.items()}

    def still(self, group, step):
        """Whether not one bit of a group changed in a step."""
        pairs = zip(self.snapshots[step][group], self.snapshots[step + 1][group], strict=True)
        return all(torch.equal(a, b) for a, b in pairs)


@cache
def watched(name, entry="BERT", seed=0):
    """One watched run of a strategy of the catalogue."""
    return Watched(strategies()[name], entry, seed)


# the card


@every_strategy
def test_the_card_is_filled_in(name):
    strategy = strategies()[name]
    assert re.fullmatch(r"[A-Z].{20,}\.", strategy.idea)
    assert re.search(r"arXiv:\d{4}\.\d{5}", strategy.source)
    assert strategy.rate > 0


def test_names_aliases_and_ranks_are_unique():
    spoken = [n.lower() for s in strategies().values() for n in (s.name, *s.aliases)]
    assert len(spoken) == len(set(spoken))
    ranks = [s.rank for s in strategies().values()]
    assert ranks == sorted(set(ranks))


def test_the_room_keeps_its_functions_once_the_packages_of_the_same_names_are_loaded():
    assert set(room.strategies()) == set(NAMES)
    assert set(room.tasks()) == {"sentiment"}
    assert callable(room.strategies)
    assert callable(room.tasks)


@every_strategy
def test_it_is_found_by_every_name_it_has(name):
    for spoken in (name, name.upper(), *strategies()[name].aliases):
        assert find_strategy(spoken) is strategies()[name]


def test_an_unknown_strategy_is_refused_with_those_there_are():
    with pytest.raises(Refusal, match=r"no strategy named 'nope'; choose one of: feature-based, full, gradual"):
        find_strategy("nope")


# the plan


@every_strategy
@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("steps", [1, 2, 7, 60])
def test_the_plan_is_a_multiplier_for_every_group_and_step(name, groups, steps):
    plan = strategies()[name].plan(GROUPS[-groups:], steps)
    assert plan.shape == (groups, steps)
    assert plan.dtype == torch.float32
    assert bool(((plan >= 0) & plan.isfinite()).all())
    assert bool((plan[-1] > 0).all()), "a fresh head that does not learn would say nothing"
    assert torch.equal(plan, strategies()[name].plan(GROUPS[-groups:], steps)), "a plan has no chance in it"


# what the optimiser does with it


@every_strategy
@on_every_entry
def test_the_optimiser_uses_rate_times_plan_in_every_step(name, entry):
    strategy, run = strategies()[name], watched(name, entry)
    plan = strategy.plan(tuple(run.groups), SETTING.steps)
    assert torch.equal(torch.tensor(run.rates).T, strategy.rate * plan)
    assert torch.equal(run.outcome.plan, plan)
    assert torch.equal(run.outcome.rates, strategy.rate * plan)
    assert torch.equal(torch.stack([e.rates for e in run.events[:-1]], dim=1), run.outcome.rates)
    assert [e.step for e in run.events[:-1]] == list(range(1, SETTING.steps + 1))


@every_strategy
@on_every_entry
def test_what_is_frozen_does_not_change_by_one_bit_and_what_is_not_changes(name, entry):
    run = watched(name, entry)
    for number, group in enumerate(run.groups):
        for step in range(SETTING.steps):
            assert run.still(group, step) == (float(run.outcome.plan[number, step]) == 0.0), (group, step)


@every_strategy
def test_what_has_never_thawed_has_no_momentum(name):
    run = watched(name)
    for step, remembered in enumerate(run.remembered):
        thawed = run.outcome.plan[:, :step].any(dim=1)
        assert remembered == {g for g, yes in zip(run.groups, thawed.tolist(), strict=True) if yes}


@every_strategy
@on_every_entry
@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_every_parameter_that_counts_as_trained_has_moved(name, entry, positions):
    run = Watched(strategies()[name], entry, positions=positions)
    moved = 0
    for group in run.groups:
        for start, end in zip(run.snapshots[0][group], run.snapshots[-1][group], strict=True):
            moved += 0 if torch.equal(start, end) else start.numel()
    assert run.outcome.trainable == run.outcome.stored == moved


@every_strategy
@on_every_entry
def test_the_distance_that_a_group_moved_is_reported(name, entry):
    run = watched(name, entry)
    for number, group in enumerate(list(run.groups)[:-1]):
        pairs = zip(run.snapshots[0][group], run.snapshots[-1][group], strict=True)
        distance = sum(float(((a - b) ** 2).sum()) for a, b in pairs) ** 0.5
        assert run.outcome.moved[number] == pytest.approx(distance, rel=1e-4)
        assert (run.outcome.moved[number] == 0.0) == (not bool(run.outcome.plan[number].any()))
    assert run.outcome.groups == tuple(run.groups)
    assert run.outcome.groups[-1] == HEAD


@every_strategy
@on_every_entry
def test_nothing_is_forgotten_exactly_where_nothing_was_changed(name, entry):
    outcome = watched(name, entry).outcome
    changed = bool(outcome.plan[:-1].any())
    assert (outcome.forgetting != 0.0) == changed
    assert 0.0 <= outcome.accuracy <= 1.0


@every_strategy
def test_the_same_seed_gives_the_same_outcome(name):
    one, other, third = (Watched(strategies()[name], seed=seed) for seed in (3, 3, 4))
    assert [e.loss for e in one.events[:-1]] == [e.loss for e in other.events[:-1]]
    assert [e.loss for e in one.events[:-1]] != [e.loss for e in third.events[:-1]]
    for what in ("accuracy", "forgetting", "moved", "trainable"):
        assert getattr(one.outcome, what) == getattr(other.outcome, what)


@every_strategy
def test_the_base_is_not_touched(name):
    model: LanguageModel = base_of("BART").learner.model
    before = {k: v.clone() for k, v in model.state_dict().items()}
    outcome = Watched(strategies()[name], "BART").outcome
    assert isinstance(outcome, Outcome)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert all(p.requires_grad and p.grad is None for p in model.parameters())
    assert model.training
