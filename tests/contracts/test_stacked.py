"""Stacked equals separate: many trials as one model have the numbers of trials that run one by one.

Both are compared in float64, because Adam amplifies the differences of rounding in float32.
"""

from dataclasses import replace
from functools import cache

import pytest
import torch

from playground.errors import UserError
from playground.finetuning import Strategy, find_strategy, find_task, strategies
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run import trials as room
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.stacked import alike, tune_together, why_not_stackable
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner
from playground.finetuning.run.trials import Trial, TrialData, plan_stacks
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.head import Head
from playground.tokenizing import of_words
from playground.training.parallel.stacked import parted
from playground.training.train_state import TrainState
from tests.runs import KINDS, KNOWN, TWO_STREAMS, base_of, reviews, tiny

SETTING = FinetuneConfig(steps=6, batch_size=4)
SEEDS = (0, 1)
NEAR = 1e-9
"""How far float64 may be off; seen: 3e-14, and 1e-11 where a gradient is nothing but rounding, which Adam enlarges."""


@pytest.fixture(autouse=True)
def _exactly():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@cache
def texts(split="train", seed=0, count=24):
    return find_task("sentiment").load(reviews().tokenizer, count, seed, split)


def in_stacks():
    """Every strategy that can be stacked, in the stacks in which it stands."""
    found = {}
    for strategy in strategies().values():
        if not why_not_stackable(base_of(), strategy, texts()):
            found.setdefault(alike(strategy, SETTING), []).append(strategy)
    return list(found.values())


@pytest.fixture
def runs(monkeypatch):
    """Every trial that is begun, for a look at its weights."""
    begun, begin = [], Finetuner.__init__

    def beginning(self, *given):
        begin(self, *given)
        begun.append(self)

    monkeypatch.setattr(Finetuner, "__init__", beginning)
    return begun


def check_same(base, stack, runs, test=None, train=texts, setting=SETTING):
    """All events, weights and bits of what is frozen, whether stacked or one by one."""
    test = test or texts("test")
    trials = [(strategy, train(seed=seed), test, seed) for seed in SEEDS for strategy in stack]
    together = {k: [] for k in range(len(trials))}
    for number, event in tune_together(base, trials, setting):
        together[number].append(event)
    stacked = runs[:]
    for number, (strategy, some, _, seed) in enumerate(trials):
        runs.clear()
        *steps, last = tune(base, strategy, some, test, setting, seed)
        *own, outcome = together[number]
        assert [e.loss for e in own] == pytest.approx([e.loss for e in steps], abs=NEAR), strategy.name
        assert all(torch.equal(a.rates, b.rates) for a, b in zip(own, steps, strict=True))
        check_outcomes(outcome, last)
        check_weights(stacked[number], runs[0], strategy.name)


def check_outcomes(one, other):
    assert isinstance(one, Result)
    assert (one.groups, one.trainable, one.stored) == (other.groups, other.trainable, other.stored)
    assert (torch.equal(one.plan, other.plan), torch.equal(one.rates, other.rates)) == (True, True)
    for what in ("accuracy", "forgetting", "plugged_in", "moved", "shares"):
        assert getattr(one, what) == pytest.approx(getattr(other, what), abs=1e-9), what
    assert one.mix.shape == other.mix.shape and torch.allclose(one.mix, other.mix, atol=1e-6)
    assert one.unchanged == other.unchanged


def check_weights(one, other, name):
    """Equal to rounding, and frozen in one as in the other: not a bit has changed."""
    for group, parameters in other.groups.items():
        for a, b, start in zip(one.groups[group], parameters, other.start[group], strict=True):
            assert float((a - b).detach().abs().max()) < NEAR, (name, group)
            assert torch.equal(a, start) == torch.equal(b, start), (name, group)


def test_stacked_equals_separate_for_every_strategy_that_can_be_stacked(runs):
    """Without biases of keys: they change no attention, so their gradient is rounding, which AdamW takes for real."""
    stacks = in_stacks()
    for stack in stacks:
        runs.clear()
        check_same(base_of(attention_bias=False), stack, runs)
    apart = {s.name for s in strategies().values()} - {s.name for stack in stacks for s in stack}
    assert all(
        s.aux_losses or s.task_loss or s.prompt or s.extra_features or s.head.recurrent or s.head.hidden
        for s in map(find_strategy, apart)
    )
    assert len(stacks[0]) > 10, "most read alike and differ in what may change"


@pytest.mark.parametrize("entry", ["GPT", "BART", TWO_STREAMS, "ELECTRA"])
def test_stacked_equals_separate_on_every_kind_of_model(entry, runs):
    chosen = [find_strategy(name) for name in ("full", "chain-thaw", "EWC", "feature-based")]
    check_same(base_of(entry), chosen, runs)


@pytest.mark.parametrize("name", [*KINDS, "ULMFiT", "fastText", "GloVe", "T5"])
def test_a_base_of_any_kind_is_stacked_or_runs_apart_with_a_sentence(name):
    spec = ComparisonSpec(strategies=("full",), train_sizes=(8,), seeds=2, steps=2, parallelism="vmap")
    base = base_of(name)
    *_, last = compare(base, reviews().tokenizer, spec, batch_size=4)
    assert len(last.outcomes["full"]) == 2
    reason = why_not_stackable(base, find_strategy("full"), texts())
    assert not reason or f"full runs separately, not stacked: {reason}." in last.notices
    assert bool(reason) == (name == "fastText" or KNOWN[name].model.recurrent)


@pytest.mark.parametrize("name", ["entailment", "similarity", "story ending", "word in context", "question answering"])
def test_stacked_equals_separate_whatever_is_asked_about_a_text(name, runs):
    task = find_task(name)
    items = [item for seed in (*SEEDS, 9) for split in ("train", "test") for item in task.items(24, seed, split)]
    words = of_words([word for item in items for word in item.words])
    learner = TrainState.new(tiny("RoBERTa"), words.words, 0, torch.device("cpu"))
    base = Base(learner, task.load(words, 8, 1, "test").tokens)
    chosen = [find_strategy("full"), find_strategy("gradual")]
    test = task.load(words, 24, 0, "test")
    check_same(base, chosen, runs, test, lambda seed: task.load(words, 24, seed, "train"))


def test_trials_with_few_and_many_labels_share_a_stack_of_their_own_number(runs):
    def train(seed):
        return texts(seed=seed, count=6 + 10 * seed)

    check_same(base_of(), [find_strategy("full")], runs, train=train)


def frozen_in_the_middle(groups, steps):
    """The body learns, rests and learns again."""
    plan = torch.ones(len(groups), steps)
    plan[:-1, 2:4] = 0.0
    return plan


def test_a_trial_that_rests_keeps_every_bit_while_its_neighbour_learns(runs):
    resting = Strategy("resting", "", "", frozen_in_the_middle)
    check_same(base_of(), [resting, find_strategy("full")], runs)
    runs.clear()
    seen = []
    for number, event in tune_together(
        base_of(), [(s, texts(), texts("test"), 0) for s in (resting, find_strategy("full"))], SETTING
    ):
        if isinstance(event, StepEvent) and number == 1:
            seen.append({g: [p.detach().clone() for p in ps] for g, ps in runs[0].groups.items() if g != "task head"})
    for step in range(1, 6):
        pairs = [(a, b) for g in seen[0] for a, b in zip(seen[step - 1][g], seen[step][g], strict=True)]
        assert all(torch.equal(a, b) for a, b in pairs) == (2 <= step < 4), step


def test_what_the_head_does_not_read_is_left_alone_unless_a_penalty_holds_it(runs):
    low = [replace(find_strategy(name), name=f"{name}, low", head=Head(reads=0)) for name in ("full", "L2-SP")]
    check_same(base_of(), low, runs)


# who cannot be stacked


APART = {
    "LSTM on word vectors": "reads word by word",
    "ELMo at the input": "reads word by word",
    "replay": "hold more than the task",
    "mixout": "takes the task's loss in another form (mixout)",
    "zero-shot prompting": "trains nothing",
}


@pytest.mark.parametrize(("name", "said"), APART.items())
def test_who_cannot_be_stacked_runs_apart_with_a_sentence(name, said):
    work = TrialData(base_of(), {(24, 0): texts()}, {0: texts("test")})
    full, other = (Trial(find_strategy(n), 0, 24, SETTING) for n in ("full", name))
    plan = plan_stacks(work, (full, other), "vmap")
    assert (plan.stacks, plan.apart) == (((full,),), (other,))
    assert len(plan.notices) == 1
    assert plan.notices[0].startswith(f"{name} runs separately, not stacked: ")
    assert said in plan.notices[0]
    assert plan_stacks(work, (full, other), "auto").stacks == (), "on a CPU nothing is stacked unless asked for"


def test_on_a_cpu_only_the_seeds_of_one_strategy_share_a_stack():
    work = TrialData(base_of(), {(24, seed): texts(seed=seed) for seed in SEEDS}, dict.fromkeys(SEEDS, texts("test")))
    jobs = [Trial(find_strategy(name), seed, 24, SETTING) for seed in SEEDS for name in ("full", "chain-thaw")]
    stacks = [[(job.strategy.name, job.seed) for job in stack] for stack in plan_stacks(work, jobs, "vmap").stacks]
    assert stacks == [[("full", 0), ("full", 1)], [("chain-thaw", 0), ("chain-thaw", 1)]]


def test_a_comparison_has_the_same_numbers_whichever_way():
    chosen = [find_strategy(name) for name in ("full", "replay", "adapters", "zero-shot prompting")]
    found = {}
    for way in ("processes", "vmap"):
        spec = ComparisonSpec(train_sizes=(8,), seeds=2, steps=6, parallelism=way)
        *_, last = compare(base_of(), reviews().tokenizer, spec, chosen=chosen, batch_size=4)
        found[way] = last
    assert list(found["vmap"].outcomes) == list(found["processes"].outcomes)
    for name, outcomes in found["processes"].outcomes.items():
        for one, other in zip(found["vmap"].outcomes[name], outcomes, strict=True):
            check_outcomes(one, other)
    assert found["processes"].notices == base_of().notices
    apart = [line.split(" runs separately")[0] for line in found["vmap"].notices if " runs separately" in line]
    assert apart == ["replay", "zero-shot prompting"]


def test_a_stack_that_would_not_fit_is_split_with_a_sentence(monkeypatch):
    work = TrialData(
        base_of(), {(24, seed): texts(seed=seed) for seed in range(4)}, dict.fromkeys(range(4), texts("test"))
    )
    jobs = [Trial(find_strategy("full"), seed, 24, SETTING) for seed in range(4)]
    need = room.bytes_of(work.base, texts(), SETTING)
    monkeypatch.setattr(room, "available", lambda device: int(2.5 * need / 0.8))
    plan = plan_stacks(work, jobs, "vmap")
    assert plan.stacks == (tuple(jobs[:2]), tuple(jobs[2:]))
    assert "4 trainings would not fit in one stack" in plan.notices[0]
    assert "2 at a time" in plan.notices[0]


@pytest.mark.parametrize(("trials", "free", "sizes"), [(5, None, [5]), (5, 100, [5]), (5, 40, [3, 2]), (5, 1, [1] * 5)])
def test_trials_are_parted_evenly_by_what_is_free(trials, free, sizes):
    assert [len(part) for part in parted(range(trials), 10, free)] == sizes


def test_a_way_that_there_is_not_is_refused():
    with pytest.raises(UserError, match="parallelism is 'sideways'; choose one of auto, vmap, processes"):
        plan_stacks(TrialData(base_of(), {}, {}), (), "sideways")


def test_the_answers_in_a_stack_are_of_one_form():
    assert isinstance(texts().answer, Classes)
    tags = replace(texts(), answer=find_task("part of speech").answer)
    assert "different numbers of answers" in why_not_stackable(base_of(), find_strategy("full"), tags)
