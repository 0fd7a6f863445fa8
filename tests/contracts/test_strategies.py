"""What every fine-tuning strategy of the catalogue owes: a card, a plan that is obeyed, parts that are truly frozen."""

import re
from copy import deepcopy
from dataclasses import replace
from functools import cache
from zlib import crc32

import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from playground import finetuning as room
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.finetuning import compare, find_strategy, find_task, strategies
from playground.finetuning.comparing.budget_matching import Cost, cost
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run import trainer
from playground.finetuning.run.base import base_of as base_of_run
from playground.finetuning.run.base import replace_model
from playground.finetuning.run.measure import Result, body_changed
from playground.finetuning.run.trainer import HEAD, Base, FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.find import knobs_of, with_knobs
from playground.finetuning.strategy.multitask import SampledTasks
from playground.finetuning.strategy.strategy import FAMILIES, OTHER
from playground.models.groups import layer_groups
from playground.models.transformer import Attention
from playground.training import Started, train
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo.preset import RECIPE_PRESETS
from tests.runs import (
    KINDS,
    KNOWN,
    TWO_STREAMS,
    every_entry,
    is_a_sentence,
    learner_of,
    reviews,
    run_of,
    suited_reviews,
    tiny,
)

NAMES = tuple(strategies())
LEARNING = tuple(name for name in NAMES if not strategies()[name].prompt)
ASKING = tuple(name for name in NAMES if strategies()[name].prompt)
SETTING = FinetuneConfig(steps=9, batch_size=4)
every_strategy = pytest.mark.parametrize("name", NAMES)
every_one_that_learns = pytest.mark.parametrize("name", LEARNING)
MECHANISMS = (
    "feature-based", "full", "gradual unfreezing", "layer mix", "adapters", "projected attention layers", "LoRA",
    "prefix tuning", "BitFit", "embeddings kept", "EWC", "auxiliary LM loss", "ELMo at the input", "intermediate task",
    "adversarial", "self-training", "R-Drop", "FreeLB", "mixout", "Pfeiffer adapters", "temperature sampling",
    "norms only", "prompt tuning", "WiSE-FT",
)  # fmt: skip
"""Every strategy is tested on BERT; these, one for each thing that can be done to a model, on all entries."""
TRANSFORMERS = tuple(name for name in KINDS if KNOWN[name].model.kind == "transformer")


def runs():
    """Every strategy on RoBERTa, each mechanism on all entries; without `--all` on one that its name chooses."""
    others = [entry for entry in TRANSFORMERS if entry != "RoBERTa"]
    for name in LEARNING:
        yield name, "RoBERTa"
        for entry in others if name in MECHANISMS else ():
            chosen = entry == others[crc32(name.encode()) % len(others)]
            yield pytest.param(name, entry, marks=[] if chosen else [pytest.mark.exhaustive])


GROUPS = ("embeddings", "layer 1", "layer 2", "layer 3", "layer 4", HEAD)


@cache
def base_of(entry, positions="rotary"):
    """A tiny learner after a few steps, and its held-out text."""
    learner = learner_of(entry, model={"positions": positions, "init": "mimetic"})  # which a few steps move far
    feed = BatchSampler.of(reviews(), 16, 8, 0, learner.device)
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    return Base(learner, feed.evaluation(8), tokenizer=reviews().tokenizer, task=find_task("sentiment"))


@cache
def texts(split, seed=0):
    return find_task("sentiment").load(reviews().tokenizer, 24, seed, split)


def state_of(base):
    """All weights of a base, copied, which ask for gradients and have none."""
    parameters = [*base.learner.model.parameters()]
    assert all(p.requires_grad and p.grad is None for p in parameters)
    return [value.clone() for value in base.learner.model.state_dict().values()]


class Watched:
    """A fine-tuning run with a copy of all its weights before the first and after every step."""

    def __init__(self, strategy, entry="RoBERTa", seed=0, positions="rotary"):
        self.snapshots, self.rates, self.remembered, self.events = [], [], [], []
        base, make = base_of(entry, positions), trainer.parameters
        before = state_of(base)

        def parameters(*parts):
            self.groups = make(*parts)
            self.snapshots.append(self.copy())
            return self.groups

        handle = register_optimizer_step_pre_hook(self.look)
        try:
            self.follow(tune(base, strategy, texts("train"), texts("test"), SETTING, seed), parameters)
        finally:
            handle.remove()
        self.outcome = self.events[-1]
        self.base_is_as_before = all(map(torch.equal, before, state_of(base))) and base.learner.model.training

    def follow(self, events, parameters):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trainer, "parameters", parameters)
            for event in events:
                self.events.append(event)
                if isinstance(event, StepEvent):
                    self.snapshots.append(self.copy())

    def look(self, optimiser, *_):
        if "learns" not in optimiser.param_groups[0]:  # that of a copy which a strategy teaches for itself
            return
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
def watched(name, entry="RoBERTa", seed=0):
    """One watched run of a strategy of the catalogue."""
    return Watched(strategies()[name], entry, seed)


def body(run):
    """The rows of the plan that belong to the pre-trained model, with their groups."""
    return [(k, group) for k, group in enumerate(run.groups) if group.startswith(("embeddings", "encoder"))]


# the card


@every_strategy
def test_the_card_is_filled_in(name):
    strategy = strategies()[name]
    assert re.fullmatch(r"[A-Z].{20,}\.", strategy.idea)
    assert re.search(r"arXiv:\d{4}\.\d{5}", strategy.source)
    assert strategy.rate > 0


@every_strategy
def test_it_belongs_to_a_family_and_a_published_rate_names_a_public_place(name):
    strategy = strategies()[name]
    assert strategy.family in FAMILIES
    if strategy.published is not None:
        assert 1e-6 < strategy.published.rate < 1.0
        assert re.match(r"(github\.com/[\w-]+/[\w-]+, |arXiv:\d{4}\.\d{5}, )", strategy.published.where)


def test_every_family_has_members():
    assert {strategy.family for strategy in strategies().values()} == set(FAMILIES)


def test_names_and_aliases_are_unique():
    spoken = [n.lower() for s in strategies().values() for n in (s.name, *s.aliases)]
    assert len(spoken) == len(set(spoken))


def test_they_are_listed_by_family_and_year():
    families = [s.family for s in strategies().values()]
    assert families == sorted(families, key=list(FAMILIES).index)
    rates = [s.name for s in strategies().values() if s.family == "penalties and replay"]
    assert rates == ["EWC", "L2-SP", "mixout", "replay"]  # 2016, 2018, 2019, 2019


def test_the_room_keeps_its_functions_once_the_packages_of_the_same_names_are_loaded():
    assert set(room.strategies()) == set(NAMES)
    assert "sentiment" in room.tasks()
    assert callable(room.strategies)
    assert callable(room.tasks)


@every_strategy
def test_it_is_found_by_every_name_it_has(name):
    for spoken in (name, name.upper(), *strategies()[name].aliases):
        assert find_strategy(spoken) is strategies()[name]


def test_an_unknown_strategy_is_refused_with_those_there_are():
    with pytest.raises(UserError, match=r"no strategy named 'nope'; the nearest: [^,]+, [^,]+, [^,]+"):
        find_strategy("nope")


@every_strategy
def test_its_name_can_be_written_in_a_list_and_joined(name):
    assert not set(name) & set(",+")
    if strategies()[name].prompt:
        with pytest.raises(UserError, match="trains nothing, so nothing can be put together with it"):
            find_strategy(f"{name} + full")
        return
    other = find_strategy(f"{name} + full") if name != "full" else find_strategy("full + gradual")
    assert set(other.name.split(" + ")) > {"full"}


# the plan


@every_one_that_learns
@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("steps", [1, 2, 7, 60])
def test_the_plan_is_a_multiplier_for_every_group_and_step(name, groups, steps):
    plan = strategies()[name].plan(GROUPS[-groups:], steps)
    assert plan.shape == (groups, steps)
    assert plan.dtype == torch.float32
    assert bool(((plan >= 0) & plan.isfinite()).all())
    assert bool(plan.any(dim=0).all()), "a step in which nothing learns is wasted"
    assert steps < 7 or bool(plan[-1].any()), "a fresh head that does not learn would say nothing"
    assert torch.equal(plan, strategies()[name].plan(GROUPS[-groups:], steps)), "a plan has no chance in it"


@pytest.mark.parametrize("steps", [7, 50])
@pytest.mark.parametrize("name", [name for name in LEARNING if not strategies()[name].own_row])
def test_biases_that_stand_apart_learn_as_fast_as_their_layer(name, steps):
    """BitFit with discriminative rates or gradual unfreezing: a row of biases is no layer of its own."""
    plan = strategies()[name].plan(GROUPS, steps)
    body = GROUPS[:-1]
    for apart in (body, body[1:3], body[:1]):
        rows = [row for group in GROUPS for row in (group, f"{group} biases")[: 1 + (group in apart)]]
        expected = [plan[GROUPS.index(row.removesuffix(" biases"))].tolist() for row in rows]
        assert strategies()[name].plan(rows, steps).tolist() == expected


def norms_of(model):
    """The names of the weights and biases of all norms."""
    for name, module in model.named_modules():
        if isinstance(module, (nn.LayerNorm, nn.RMSNorm)):
            yield from (f"{name}.{own}" for own, _ in module.named_parameters())


def biases_of(model):
    """The names of all biases by the kinds of modules that have them."""
    named = {module: name for name, module in model.named_modules()}
    relative = ("content_bias", "position_bias", "segment_bias")
    for module, name in named.items():
        if isinstance(module, nn.RNNBase):
            yield from (f"{name}.{own}" for own, _ in module.named_parameters() if own.startswith("bias_"))
        for own in ("bias", *(relative if isinstance(module, Attention) else ())):
            if isinstance(module._parameters.get(own), nn.Parameter):
                yield f"{name}.{own}"


@every_entry
@pytest.mark.parametrize("recipe", RECIPE_PRESETS)
@pytest.mark.parametrize("strategy", ["BitFit", "norms only"])
def test_every_bias_or_norm_of_a_model_learns_or_the_model_is_refused_with_a_sentence(strategy, name, recipe):
    """arXiv:2106.10199, sec. 3, and 2312.11420; T5's published form has no biases, static vectors have neither."""
    part, parts_of = {"BitFit": ("biases", biases_of), "norms only": ("norms", norms_of)}[strategy]
    entry, objective = RECIPE_PRESETS[recipe](tiny(name)), KNOWN[name].objective
    learner = TrainState.new(entry, suited_reviews(objective).tokenizer.words, 0, torch.device("cpu"))
    named = dict(learner.model.named_parameters())
    groups = trainer.parameters(learner.model, nn.Linear(2, 2), apart=part)
    apart = {id(p) for group, ps in groups.items() if group.endswith(f" {part}") for p in ps}
    read = {id(p) for group, ps in groups.items() if group != HEAD for p in ps}
    assert apart == {id(named[name]) for name in parts_of(learner.model)} & read
    task = find_task("sentiment")
    if apart:
        strategies()[strategy].check(learner, task)
    else:
        with pytest.raises(UserError, match=f"{strategy} trains the {part} of a model, and {name} has none. Choose"):
            strategies()[strategy].check(learner, task)


@pytest.mark.parametrize("entry", TRANSFORMERS)
def test_no_layer_group_holds_norms_alone_and_a_plan_thaws_real_layers_only(entry):
    """A last norm of 128 numbers is no layer: thawing it for a fifth of the steps is thawing nothing."""
    model = learner_of(entry, model={"layers": 2}).model
    for group, names in layer_groups(model).items():
        assert any("norm" not in name for name in names), group
    rows = {group for group in layer_groups(model) if group.startswith(("embeddings", "encoder"))}
    assert rows == {"embeddings", "encoder layer 1", "encoder layer 2"}
    base = Base(learner_of(entry, model={"layers": 2}), base_of(entry).held_out)
    for name in ("gradual unfreezing", "chain-thaw", "discriminative rates", "ULMFiT"):
        run = Finetuner(
            base, strategies()[name], numbered(texts("train"), base), FinetuneConfig(steps=20, batch_size=4), 0
        )
        assert tuple(run.groups) == ("embeddings", "encoder layer 1", "encoder layer 2", HEAD)
        bodies = [sum(p.numel() for p in run.groups[group] if p.dim() > 1) for group in run.groups]
        assert min(bodies[:-1]) > 1000
        thawed = run.plan.bool().sum(1).tolist()
        assert name != "gradual unfreezing" or thawed == [5, 10, 15, 20]


# what the optimiser does with it


@pytest.mark.parametrize(("name", "entry"), tuple(runs()))
def test_a_run_obeys_its_plan_and_reports_what_moved_and_what_was_forgotten(name, entry):
    run, strategy = watched(name, entry), strategies()[name]
    assert run.base_is_as_before
    check_rates(run, strategy)
    check_what_is_frozen(run, strategy)
    check_what_moved(run, strategy)
    check_distances(run)
    moves = bool(strategy.adapters) and (name, entry) != (
        "prefix tuning",
        "BART",
    )  # there by less than a float can hold
    check_what_was_forgotten(run.outcome, body(run), moves)


def check_rates(run, strategy):
    """The optimiser uses rate times plan in every step."""
    plan = strategy.plan(tuple(run.groups), SETTING.steps)
    assert torch.equal(torch.tensor(run.rates).T, strategy.rate * plan)
    assert torch.equal(run.outcome.plan, plan)
    assert torch.equal(run.outcome.rates, strategy.rate * plan)
    assert torch.equal(torch.stack([e.rates for e in run.events[:-1]], dim=1), run.outcome.rates)
    assert [e.step for e in run.events[:-1]] == list(range(1, SETTING.steps + 1))


def drawn_heads(strategy):
    """The groups of which one learns in each step, where each step draws its task."""
    return (HEAD, OTHER) if isinstance(strategy.others, SampledTasks) else ()


def check_what_is_frozen(run, strategy):
    """What is frozen does not change by one bit, and what is not changes."""
    heads = drawn_heads(strategy)
    for step in range(SETTING.steps):
        assert not heads or [run.still(group, step) for group in heads].count(True) == 1
        for group, row in zip(run.groups, run.outcome.plan.tolist(), strict=True):
            assert group in heads or run.still(group, step) == (row[step] == 0.0), (group, step)


def check_what_moved(run, strategy):
    """Every parameter that counts as trained has moved, but heads of tasks that may not have been drawn."""
    moved, heads = 0, drawn_heads(strategy)
    for group in run.groups:
        for start, end in zip(run.snapshots[0][group], run.snapshots[-1][group], strict=True):
            moved += 0 if torch.equal(start, end) and group not in heads else start.numel()
    others = sum(p.numel() for p in run.snapshots[0].get(OTHER, ()))
    assert run.outcome.trainable == moved
    assert run.outcome.stored == moved - others, "heads of other tasks are not needed for this one"


def check_distances(run):
    """The distance that a group moved is reported."""
    for number, group in body(run):
        pairs = zip(run.snapshots[0][group], run.snapshots[-1][group], strict=True)
        distance = sum(float(((a - b) ** 2).sum()) for a, b in pairs) ** 0.5
        assert run.outcome.moved[number] == pytest.approx(distance, rel=1e-4)
        assert (run.outcome.moved[number] == 0.0) == (not bool(run.outcome.plan[number].any()))
    assert run.outcome.groups == tuple(run.groups)
    assert run.outcome.groups[-1] == HEAD


def check_what_was_forgotten(outcome, groups, extras):
    """Nothing is forgotten exactly where nothing was changed."""
    changed = any(bool(outcome.plan[number].any()) for number, _ in groups)
    assert (outcome.forgetting != 0.0) == changed
    assert (outcome.plugged_in != outcome.forgetting) == extras
    assert 0.0 <= outcome.accuracy <= 1.0


@every_one_that_learns
def test_what_has_never_thawed_has_no_momentum_and_chain_thaw_begins_each_phase_without(name):
    run, heads = watched(name), set(drawn_heads(strategies()[name]))
    plan, first = run.outcome.plan, 0
    for step, remembered in enumerate(run.remembered):
        if name == "chain-thaw" and step and not torch.equal(plan[:, step], plan[:, step - 1]):
            first = step  # every phase has an optimiser of its own
        thawed = plan[:, first:step].any(dim=1)
        assert remembered - heads == {g for g, yes in zip(run.groups, thawed.tolist(), strict=True) if yes} - heads


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in MECHANISMS else [pytest.mark.exhaustive]) for n in LEARNING]
)
def test_learned_positions_count_too(name):
    check_what_moved(Watched(strategies()[name], positions="learned"), strategies()[name])


@every_one_that_learns
def test_the_same_seed_gives_the_same_outcome(name):
    one, other, third = watched(name), *(Watched(strategies()[name], seed=seed) for seed in (0, 4))
    assert [e.loss for e in one.events[:-1]] == [e.loss for e in other.events[:-1]]
    assert [e.loss for e in one.events[:-1]] != [e.loss for e in third.events[:-1]]
    for what in ("accuracy", "forgetting", "moved", "trainable"):
        assert getattr(one.outcome, what) == getattr(other.outcome, what)


def shares_of_the_steps():
    """Every knob that is a share of the steps at its limits and between them; without `--all` one value of each."""
    for name in LEARNING:
        for knob in (k for k in knobs_of(strategies()[name]).values() if k.unit == "share of the steps"):
            values = (knob.low, (knob.low + knob.high) / 2, knob.high)
            chosen = values[crc32(f"{name} {knob.name}".encode()) % 3]
            yield from (
                pytest.param(name, knob.name, value, marks=[] if value == chosen else [pytest.mark.exhaustive])
                for value in values
            )


@pytest.mark.parametrize(("name", "knob", "value"), tuple(shares_of_the_steps()))
def test_however_the_steps_are_shared_the_plan_is_obeyed_and_the_head_learns(name, knob, value):
    strategy = with_knobs(strategies()[name], {knob: value})
    run = Watched(strategy)
    check_rates(run, strategy)
    check_what_is_frozen(run, strategy)
    assert bool(run.outcome.plan[-1].any())
    assert bool(run.outcome.plan.any(dim=0).all())


# penalties and extra modules


def tuning(strategy, entry="RoBERTa", seed=0):
    """A run that has not taken a step."""
    base = base_of(entry)
    return Finetuner(base, strategy, numbered(texts("train"), base), SETTING, seed)


PULLED = tuple(name for name in NAMES if strategies()[name].penalties)
PLUGGED = tuple(name for name in NAMES if strategies()[name].adapters)


@pytest.mark.parametrize("name", PULLED)
@pytest.mark.parametrize("entry", TRANSFORMERS)
def test_a_penalty_is_exactly_nothing_at_the_start_and_something_afterwards(name, entry):
    run = tuning(strategies()[name], entry)
    [(_, ask)] = run.terms
    run._set_rates(0)  # a penalty counts what may learn, and before the first step nothing may
    assert any(p.requires_grad for p in run.model.parameters())
    assert float(ask(None).detach()) == 0.0
    run.learn(0)
    assert float(ask(None).detach()) > 0.0


def known(model, tokens):
    with torch.no_grad():
        return model.features(tokens)


@pytest.mark.parametrize("name", PLUGGED)
@pytest.mark.parametrize("entry", TRANSFORMERS)
def test_extra_modules_start_as_the_identity_and_leave_no_trace(name, entry):
    base, tokens = base_of(entry), texts("test").tokens
    before, run = known(base.learner.model, tokens), tuning(strategies()[name], entry)
    [extra] = run.attached
    assert torch.equal(known(run.model, tokens), before) == (not extra.kind.more_tokens)
    for step in range(3):
        run.learn(step)
    assert not torch.allclose(known(run.model, tokens), before)
    extra.detach()
    alone = known(run.model, tokens)
    body = deepcopy(base.learner.model)
    body.load_state_dict(run.model.state_dict())
    assert torch.equal(alone, known(body, tokens)), "what is left is the body and nothing else"
    assert torch.equal(alone, before) != body_changed(run)
    extra.attach()
    assert not torch.equal(known(run.model, tokens), alone)


def test_each_task_has_its_own_projected_attention_and_all_share_the_body():
    """arXiv:1902.02671, sec. 3: a task's loss moves the shared body and its own modules, not those of the others."""
    run = tuning(strategies()["projected attention layers"], "RoBERTa")
    [extra] = run.attached
    [own] = run.others[0].attached
    run._set_rates(0)

    def taught(loss):
        run.model.zero_grad()
        for modules in (extra.modules, own.modules):
            modules.zero_grad()
        loss.backward()
        found = (extra.modules, own.modules, run.model.network.encoder)
        return [any(p.grad is not None and bool(p.grad.any()) for p in part.parameters()) for part in found]

    drawn = run.train.pick(torch.arange(8))
    scores = run.head(run.reader.read(drawn), drawn)
    assert taught(drawn.answer.loss(scores, drawn.labels)) == [True, False, True]
    assert taught(run.other_loss(0, 0)) == [False, True, True]
    assert len(run.others) == 3
    assert len({id(p) for other in run.others for p in nn.ModuleList(other.parts).parameters()}) == sum(
        len(list(nn.ModuleList(other.parts).parameters())) for other in run.others
    )


@every_one_that_learns
def test_what_is_kept_changes_nothing_but_the_time(name):
    """The activations below what learns are computed once per text; the same run without that is the witness."""
    setting = replace(SETTING, keeps=False)
    *one, first = watched(name).events
    *other, second = tune(base_of("RoBERTa"), strategies()[name], texts("train"), texts("test"), setting, 0)
    assert [e.loss for e in one] == pytest.approx([e.loss for e in other], abs=2e-5)
    assert first.accuracy == pytest.approx(second.accuracy, abs=1 / 24)
    assert first.moved == pytest.approx(second.moved, rel=0.02, abs=1e-4)


# what is only asked


@cache
def pre_trained(entry):
    """A tiny learner after two steps of its own run, whatever kind it is."""
    run = run_of(entry=tiny(entry), steps=2)
    return base_of_run(next(e.learner for e in list(train(run)) if isinstance(e, Started)), run.corpus)


OF_A_KIND = (
    "BitFit", "norms only", "R-Drop", "cloze answers", "knowledge injection", "mixout", "rewritten texts",
    "single layer",
)  # fmt: skip
"""Strategies that need a model of some kind, as do those that add modules or prompt."""
BASES = ("ELMo", "fastText", "ULMFiT", TWO_STREAMS, "T5", "BART", "GloVe", "GPT-2")


@every_strategy
@pytest.mark.parametrize("entry", BASES)
def test_on_a_base_of_any_kind_it_runs_or_is_refused_in_a_sentence(name, entry):
    spec = ComparisonSpec(strategies=(name,), train_sizes=(8,), seeds=1, steps=2)
    try:
        *_, comparison = compare(pre_trained(entry), reviews().tokenizer, spec, batch_size=4)
        outcome = comparison.facts()["strategies"][0]["name"]
    except UserError as refusal:
        outcome = str(refusal)
    strategy = strategies()[name]
    asks = strategy.adapters or strategy.prompt or strategy.fresh in ("encoder", "decoder") or name in OF_A_KIND
    assert outcome == name or (asks and is_a_sentence(outcome)), outcome


@pytest.mark.parametrize("steps", [2, 12])
@pytest.mark.parametrize("entry", ["ERNIE", "ERNIE 2.0", "BioBERT"])
def test_forgetting_is_measured_by_the_question_of_the_phase_in_which_the_base_is(entry, steps):
    """A run that was stopped in its first phase has held-out text for the question of that phase alone."""
    run = run_of(entry=tiny(entry), steps=steps)
    learner = next(e.learner for e in list(train(run)) if isinstance(e, Started))
    base = base_of_run(learner, run.corpus)
    copy = replace_model(learner, deepcopy(learner.model))
    assert copy.objective.name == learner.objective.name
    assert base.pretraining_loss(copy) == base.pretraining_loss(learner)


READING = tuple(entry for entry in TRANSFORMERS if KNOWN[entry].model.kind != "static")


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("entry", READING)
def test_who_is_only_asked_learns_nothing_stores_nothing_and_forgets_nothing(name, entry):
    base, strategy = base_of(entry), strategies()[name]
    before = {k: v.clone() for k, v in base.learner.model.state_dict().items()}
    [outcome] = tune(base, strategy, texts("train"), texts("test"), SETTING, 0)
    assert isinstance(outcome, Result)
    assert all(torch.equal(v, before[k]) for k, v in base.learner.model.state_dict().items())
    assert (outcome.trainable, outcome.stored, outcome.seconds, outcome.forgetting) == (0, 0, 0.0, 0.0)
    assert not outcome.plan.any()
    assert set(outcome.moved) == {0.0}
    assert outcome.unchanged
    assert cost(base, strategy, texts("train"), SETTING) == Cost(0.0, 0.0)


@pytest.mark.parametrize("name", ASKING)
def test_the_texts_decide_what_is_answered(name):
    base, strategy = base_of("GPT"), strategies()[name]
    shown, test = texts("train"), texts("test")
    scores = test.answer.prompted(base.learner.model, strategy.prompt, shown, test)
    assert scores.shape == (24, 2)
    assert torch.equal(scores, test.answer.prompted(base.learner.model, strategy.prompt, shown, test))
    other = test.answer.prompted(
        base.learner.model, strategy.prompt, shown, replace(test, tokens=pick(test.tokens, BACK))
    )
    assert torch.allclose(other, scores[BACK], atol=1e-5)
    turned = test.answer.prompted(base.learner.model, strategy.prompt, replace(shown, labels=1 - shown.labels), test)
    assert torch.equal(turned, scores) == (not strategy.prompt.shots)


BACK = torch.arange(23, -1, -1)
