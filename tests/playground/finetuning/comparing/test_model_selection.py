"""Which run for which task: the table says what was tried, why not where not, and how alike the words are."""

from dataclasses import replace
from statistics import fmean
from types import SimpleNamespace

import pytest

from playground.finetuning import find_task
from playground.finetuning.comparing.model_selection import TriedRun, facts, likeness, try_all
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Classes
from playground.training.checkpoint import Checkpoint
from tests.contracts.test_strategies import base_of
from tests.runs import reviews


def saved(entry):
    base = base_of(entry)
    studied = SimpleNamespace(name="nowhere", hash="", held_out=base.held_out, rehearsal=base.held_out)
    return Checkpoint(base.learner, reviews().tokenizer, studied)


SHOUTED = Task(
    "shouted", "In words that nobody has read.", "none", Classes(("a", "b")),
    lambda count, seed, split: [Item((("AXX", f"QZ{k}"),), k % 2) for k in range(count)],
)  # fmt: skip


SPEC = ComparisonSpec(strategies=("feature-based",), train_sizes=(8,), seeds=1, steps=2)


def test_every_run_is_tried_on_every_task_or_says_why_not():
    runs, tasks = {"a": saved("RoBERTa"), "b": saved("BART")}, [find_task("sentiment"), SHOUTED]
    found = list(try_all(runs, tasks, SPEC, batch_size=4))
    assert [(one["run"], one["task"]) for one in found] == [
        ("a", "sentiment"),
        ("a", "shouted"),
        ("b", "sentiment"),
        ("b", "shouted"),
    ]
    assert all((one["accuracy"] is None) == (one["task"] == "shouted") for one in found)
    assert "does not know" in found[1]["reason"]
    told = facts(found)
    assert set(told["best"]) == {"sentiment"}
    assert told["said"] == ""


def test_a_cell_says_what_the_strategy_reads_fewer_of():
    [one] = try_all({"a": saved("RoBERTa")}, [find_task("sentiment")], replace(SPEC, strategies=("EWC",)), batch_size=4)
    assert any("rows of pre-training text are read, as there are fewer than the 32" in line for line in one["notices"])


def test_every_seed_is_tested_on_texts_of_its_own_as_in_a_comparison():
    """Else the luck of one set of texts would count as a lead of a run."""
    drawn, sentiment = set(), find_task("sentiment")

    def items(count, seed, split):
        drawn.add((seed, split))
        return sentiment.items(count, seed, split)

    list(try_all({"a": saved("RoBERTa")}, [replace(sentiment, items=items)], replace(SPEC, seeds=2), batch_size=4))
    assert {(0, "test"), (1, "test")} <= drawn


def test_texts_like_those_of_pre_training_are_more_alike():
    one = saved("RoBERTa")
    assert 0.0 <= likeness(one, find_task("topic")) < likeness(one, find_task("sentiment")) <= 1.0


def tried(run, task, alike, *values):
    accuracy = fmean(values)
    return TriedRun(run=run, task=task, alike=alike, accuracy=accuracy, reason="", values=values, notices=())


def test_a_run_inside_the_noise_is_not_called_the_best():
    def verdict(other):
        cells = [tried("a", "s", 0.1, 0.8, 0.8, 0.8), tried("b", "s", 0.1, *other)]
        return facts(cells)["verdicts"]["s"]

    assert "within the noise, so no winner" in verdict((0.7, 0.9, 1.1))
    assert "b leads a by 0.100 on average over 3 seeds" in verdict((0.89, 0.9, 0.91))
    assert "larger than the noise" in verdict((0.89, 0.9, 0.91))


def test_the_correlation_is_within_tasks():
    """Task t is easier for all; within both tasks the run with more alike words does better."""
    cells = [("a", "s", 0.1, 0.5), ("b", "s", 0.2, 0.6), ("a", "t", 0.05, 0.8), ("b", "t", 0.1, 0.9)]
    told = facts([tried(*cell) for cell in cells])
    assert told["best"] == {"s": "b", "t": "b"}
    assert told["said"] == "Rank correlation of likeness and accuracy, within tasks, over 4 cells: +0.89."
    assert "run at least two of each" in told["verdicts"]["s"]
    assert told["cells"][0]["accuracy"] == pytest.approx(0.5)
