"""The soup plane: its corners are the models that were trained, its named models those of the strategies and rules."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from playground.analysis.instrument import instrument_named
from playground.analysis.landscape import flat
from playground.finetuning import find_strategy, find_task
from playground.finetuning.apply.merging import merge, ties
from playground.finetuning.instruments.soup_plane import Settings, marks_on_grid, soup_plane
from playground.finetuning.run.measure import result_of
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner
from playground.rng import generator
from playground.training.observe.subjects import of_learner
from tests.runs import base_of, learner_of, reviews

SETTINGS = Settings(labels=16, steps=8, texts=24, points=3)
TASKS = find_task("sentiment"), find_task("topic")


@cache
def plane():
    return soup_plane(base_of(), TASKS, SETTINGS, 0)


def tuned(name, number):
    """A run of a strategy on the texts from which a model of the plane has learned."""
    base, task = base_of(), plane().tasks[number]
    run = Finetuner(base, find_strategy(name), task.train, FinetuneConfig(steps=SETTINGS.steps), 0)
    for step in range(SETTINGS.steps):
        run.learn(step)
    return run


@pytest.mark.parametrize("number", [0, 1])
def test_the_axes_are_the_strategies_full_and_wise_ft_with_their_heads(number):
    """Everything in the plane on an axis is a model of a strategy; its accuracy and forgetting are the strategy's."""
    for name, share in (("full", 1.0), ("WiSE-FT", 0.5), ("WiSE-FT(alpha=0.25)", 0.25)):
        run = tuned(name, number)
        weights = plane().at(*((share, 0.0) if number == 0 else (0.0, share)))
        wanted = [p.detach() for p in run.model.parameters()]
        torch.testing.assert_close(flat(weights), flat(tuple(wanted)), atol=1e-6, rtol=1e-5)
        result = result_of(run, plane().tasks[number].test, 0.0)
        point = plane().point(weights)
        assert point.accuracies[number] == pytest.approx(result.accuracy)
        assert point.forgetting == pytest.approx(result.forgetting, abs=1e-4)
        assert (point.x, point.y)[number] == pytest.approx(share, abs=1e-4) and point.inside == pytest.approx(1.0)


def test_named_models_are_those_of_the_rules_and_ties_leaves_the_plane():
    named = plane().marked(generator(0))
    start, (first, second) = plane().start, plane().models
    mean = (flat(first) + flat(second)) / 2
    torch.testing.assert_close(flat(named["uniform soup"]), mean, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(flat(plane().at(0.5, 0.5)), mean, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(flat(plane().at(0.4, 0.4)), flat(named["task arithmetic"]), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(flat(named["TIES"]), flat(merge(start, [first, second], ties)))
    for name, wanted in (("pre-trained", (0, 0)), ("first", (1, 0)), ("second", (0, 1)), ("uniform soup", (0.5, 0.5))):
        x, y, inside = plane().nearest(named[name])
        assert (x, y, inside) == pytest.approx((*wanted, 1.0), abs=1e-4), name
    assert plane().nearest(named["TIES"])[2] < 0.99
    best = max(plane().held_out_accuracy(named[name]) for name in ("first", "second"))
    assert plane().held_out_accuracy(named["greedy soup"]) >= best


@pytest.mark.parametrize("number", [0, 1])
def test_the_way_of_a_fine_tuning_leads_from_the_start_to_its_model_in_the_steps_that_it_took(number):
    steps, x, y, inside = zip(*plane().way(number), strict=True)
    assert steps == tuple(range(SETTINGS.steps + 1))
    share, other = (x, y) if number == 0 else (y, x)
    assert (share[0], share[-1], other[-1]) == pytest.approx((0, 1, 0), abs=1e-4)
    assert inside[0] == 1.0 and inside[-1] == pytest.approx(1.0, abs=1e-4)
    assert min(inside[1:-1]) < 0.99, "the weights take no straight way"
    half = Finetuner(base_of(), find_strategy("full"), plane().tasks[number].train, FinetuneConfig(steps=8), 0)
    for step in range(4):
        half.learn(step)
    wanted = flat(tuple(p.detach() for p in half.model.parameters()))
    torch.testing.assert_close(flat(plane().ways[number][4]), wanted)


def test_held_out_texts_are_neither_learned_from_nor_tested_on():
    for task, held_out in zip(plane().tasks, plane().held_out, strict=True):
        texts = (task.train, task.test, held_out.test)
        rows = [{tuple(row) for row in some.tokens.ids.tolist()} for some in texts]
        assert all(rows) and not rows[2] & (rows[0] | rows[1])
        assert len(task.train.labels) == len(held_out.test.labels) == SETTINGS.labels


def test_the_grid_is_drawn_from_the_highest_row_down_and_marks_its_named_models():
    learner = learner_of("RoBERTa")
    subject = of_learner(learner, reviews(), "RoBERTa")
    found = instrument_named("soup plane").look(subject, replace(SETTINGS, points=5))
    *panels, table, ways = found.tables
    assert [len(panel) for panel in panels] == [25, 25, 25]
    assert panels[0].columns["first"][:5] == ["-0.5", "0", "0.5", "1", "1.5"]
    assert panels[0].columns["second"][::5] == ["1.5", "1", "0.5", "0", "-0.5"]
    at = dict(zip(zip(panels[2].columns["first"], panels[2].columns["second"], strict=True), range(25), strict=True))
    assert panels[2].columns["value"][at["0", "0"]] == pytest.approx(0.0, abs=1e-6), "nothing is forgotten at the start"
    for mark, where in {"0": ("0", "0"), "1": ("1", "0"), "2": ("0", "1"), "U": ("0.5", "0.5")}.items():
        assert mark in panels[0].columns["model"][at[where]].split()
    accuracy = dict(zip(table.columns["model"], table.columns["sentiment"], strict=True))
    guess = found.numbers[0].baselines["guess"]
    assert panels[0].columns["value"][at["1", "0"]] == pytest.approx(accuracy["first"] - guess)
    points = zip(*(ways.columns[name] for name in ("model", "first", "second")), strict=True)
    assert panels[0].paths["first"] == [(x, y) for model, x, y in points if model == "first"]
    assert all(panel.paths == panels[0].paths for panel in panels)


def test_a_soup_of_one_task_has_one_head_that_moves_with_the_body():
    """arXiv:2203.05482, sec. 2: all models start from the same weights, the head's among them, and all are averaged."""
    twice = soup_plane(base_of(), (TASKS[0], TASKS[0]), SETTINGS, 0)
    [task] = twice.tasks
    first, second = twice.models
    assert not torch.equal(flat(first), flat(second))
    start = Finetuner(base_of(), find_strategy("full"), task.train, FinetuneConfig(steps=1), 0)
    every = (*start.model.parameters(), *start.head.parameters())
    assert torch.equal(flat(twice.start), flat(every))
    run = tuned("full", 0)
    torch.testing.assert_close(flat(first), flat((*run.model.parameters(), *run.head.parameters())))
    twice.put(twice.at(0.5, 0.5))
    body = sum(p.numel() for p in start.model.parameters())
    mean = (flat(first) + flat(second)) / 2
    torch.testing.assert_close(flat(tuple(task.head.parameters())), mean[body:])
    assert twice.point(twice.start).accuracies == (task.accuracy(twice.put(twice.start)),)
    found = instrument_named("soup plane").look(
        of_learner(learner_of("RoBERTa"), reviews(), "RoBERTa"), replace(SETTINGS, second="sentiment")
    )
    assert [table.title for table in found.tables] == [
        "Accuracy above guessing, sentiment",
        "Forgetting",
        "Named models",
        "Fine-tuning, step by step",
    ]
    assert set(found.numbers[0].baselines) == {"first model", "second model", "guess"}


def test_a_metric_without_a_chance_level_is_drawn_as_it_is():
    subject = of_learner(learner_of("RoBERTa"), reviews(), "RoBERTa")
    found = instrument_named("soup plane").look(subject, replace(SETTINGS, second="similarity"))
    assert [table.title for table in found.tables][1] == "Pearson correlation, similarity"
    assert "guess" in found.numbers[0].baselines and "guess" not in found.numbers[1].baselines
    named = found.tables[-2].columns
    assert found.numbers[1].value == named["similarity"][named["model"].index("uniform soup")]


def test_models_in_one_cell_share_it():
    points = {
        name: plane().point(plane().at(*at)) for name, at in {"uniform soup": (0.5, 0.5), "first": (1, 0)}.items()
    }
    points["greedy soup"] = replace(points["uniform soup"], x=0.55)
    assert marks_on_grid(points, [0.0, 0.5, 1.0]) == {(0.5, 0.5): "U G", (1.0, 0.0): "1"}
