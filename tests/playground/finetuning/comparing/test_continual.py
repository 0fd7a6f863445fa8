"""Tasks in turn: the matrix is what the models of the time would answer, and adapters forget nothing at all."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from playground.errors import UserError
from playground.finetuning import find_strategy, find_task
from playground.finetuning.comparing.continual import (
    ContinualResult,
    LearnedTask,
    PullByTasks,
    ReplayTasks,
    continual,
    facts,
    protecting,
)
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.base import replace_model
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.losses import StepContext
from tests.contracts.test_strategies import base_of
from tests.runs import reviews

TASKS = ("sentiment", "entailment")
SETTING = FinetuneConfig(steps=6, batch_size=4)


@cache
def passed(strategy, steps=6, entry="RoBERTa"):
    spec = ComparisonSpec(
        task=TASKS[0], then=TASKS[1:], strategies=(strategy,), train_sizes=(16,), seeds=1, steps=steps
    )
    *_, last = continual(base_of(entry), reviews().tokenizer, spec, batch_size=4)
    assert isinstance(last, ContinualResult)
    return last


@pytest.mark.parametrize(
    "strategy",
    [
        "adapters",
        "LoRA",
        "LoRA+",
        "DoRA",
        "IA3",
        "VeRA",
        "feature-based",
        "prefix tuning",
        "prompt tuning",
        "static and contextual",
    ],
)
def test_what_adds_modules_forgets_no_earlier_task_by_one_answer(strategy):
    one = passed(strategy)
    assert one.matrix[1][0] == one.matrix[0][0]
    assert one.backward == 0.0
    assert one.forgetting == (0.0, 0.0)


@pytest.mark.parametrize("strategy", ["full", "EWC", "L2-SP", "replay", "EWC + replay"])
def test_what_trains_the_model_has_a_matrix_and_forgets_pre_training(strategy):
    one = passed(strategy)
    assert [len(row) for row in one.matrix] == [1, 2]
    assert all(0.0 <= cell <= 1.0 for row in one.matrix for cell in row)
    assert 0.0 not in one.forgetting


def test_the_facts_say_what_every_strategy_reads_fewer_of():
    """`notices` has the sentences of all strategies, each once."""
    results = [passed("full"), passed("EWC"), passed("EWC")]
    told = facts([find_task(name) for name in TASKS], ComparisonSpec(train_sizes=(16,)), "nats", results)["notices"]
    instead = "are read, as there are fewer than the 32 asked for."
    assert f"sentiment: EWC: 4 rows of pre-training text {instead}" in told
    assert f"entailment: EWC: 16 texts of an earlier task {instead}" in told
    assert len(told) == len(set(told))


def test_the_first_row_is_that_of_the_task_alone():
    base, task = base_of("RoBERTa"), find_task("sentiment")
    words = reviews().tokenizer
    texts = [task.load(words, number, 0, split) for number, split in ((16, "train"), (500, "test"))]
    *_, outcome = tune(base, find_strategy("full"), *texts, SETTING, 0)
    assert passed("full").matrix[0] == (pytest.approx(outcome.accuracy, abs=0.01),)


@cache
def learnt():
    """Entailment as it is once it has been learnt, and the base that is left."""
    base, task = base_of("RoBERTa"), find_task("entailment")
    train, test = (numbered(task.load(reviews().tokenizer, 16, 0, split), base) for split in ("train", "test"))
    run = Finetuner(base, find_strategy("full"), train, SETTING, 0)
    run.learn(0)
    run.model.requires_grad_(True)
    known = LearnedTask(train, test, run.head.requires_grad_(False), ())
    return known, replace(base, learner=replace_model(base.learner, run.model), memory={})


@pytest.mark.parametrize(("name", "kind"), [("EWC", PullByTasks), ("replay", ReplayTasks)])
def test_what_protects_pre_training_protects_earlier_tasks_too(name, kind):
    known, base = learnt()
    strategy = protecting(find_strategy(name), [known])
    assert kind in {type(term) for term in strategy.aux_losses}
    train = numbered(find_task("sentiment").load(reviews().tokenizer, 16, 0, "train"), base)
    run = Finetuner(base, strategy, train, SETTING, 0)
    [ask] = [ask for term, ask in run.terms if isinstance(term, kind)]
    moments = [StepContext(step, train, torch.zeros(0)) for step in range(2)]
    at_the_start = [float(ask(moment)) for moment in moments]
    run.learn(0)
    assert at_the_start == [0.0, 0.0] if kind is PullByTasks else at_the_start[0] == 0.0 < at_the_start[1]
    loss = ask(moments[1])
    loss.backward()
    assert float(loss.detach()) > 0.0
    assert any(p.grad is not None and p.grad.any() for p in run.model.parameters())
    assert all(p.grad is None for p in known.head.parameters())


def test_only_what_rehearses_is_carried_and_a_random_start_is_random_once():
    known = (object(),)
    assert protecting(find_strategy("random start"), known).fresh == ""
    assert protecting(find_strategy("full"), known).aux_losses == ()
    assert protecting(find_strategy("replay"), ()) is find_strategy("replay")


@pytest.mark.slow
def test_tasks_in_turn_have_the_same_numbers_whatever_the_threads_and_the_company():
    def matrices(*strategies, seeds=1):
        spec = ComparisonSpec(then=TASKS[1:], strategies=strategies, train_sizes=(16,), seeds=seeds, steps=6)
        events = continual(base_of("RoBERTa"), reviews().tokenizer, spec, batch_size=4)
        results = [event for event in events if isinstance(event, ContinualResult)]
        return {(one.strategy.name, one.seed): (one.matrix, one.forgetting) for one in results}

    alone = {key: value for name in ("full", "replay") for key, value in matrices(name).items()}
    torch.set_num_threads(2)
    try:
        assert matrices("replay", "adapters", "full", seeds=2).items() >= alone.items()
        assert torch.get_num_threads() == 2, "as it was"
    finally:
        torch.set_num_threads(1)


def test_the_means_are_those_of_the_matrices():
    one, other = (
        ContinualResult(find_strategy("full"), 0, ((a,), (b, c)), (0.0, 1.0))
        for a, b, c in [(1, 0.5, 0.7), (0.8, 0.4, 0.5)]
    )
    told = facts([find_task(t) for t in TASKS], ComparisonSpec(), "nats", [one, other])
    [full] = told["strategies"]
    assert full["matrix"] == [[pytest.approx(0.9)], [pytest.approx(0.45), pytest.approx(0.6)]]
    assert full["accuracy"]["mean"] == pytest.approx((0.6 + 0.45) / 2)
    assert full["backward"]["values"] == pytest.approx([-0.5, -0.4])
    assert told["tasks"] == list(TASKS)


@pytest.mark.parametrize(
    ("tasks", "strategy", "said"),
    [
        (["sentiment"], "full", "There is one task, sentiment; name at least one more"),
        (["sentiment", "topic", "sentiment"], "full", "A task comes twice"),
        (["sentiment", "topic"], "zero-shot", "zero-shot prompting trains nothing"),
    ],
)
def test_what_is_no_sequence_is_refused(tasks, strategy, said):
    spec = ComparisonSpec(task=tasks[0], then=tuple(tasks[1:]), strategies=(strategy,))
    with pytest.raises(UserError, match=said):
        next(continual(base_of("RoBERTa"), reviews().tokenizer, spec))
