"""Regret: nobody who keeps to the mask is below the best possible prediction, and whoever sees the answer soon is."""

from dataclasses import replace

import pytest
import torch

from playground.analysis.floor.automaton import automaton
from playground.analysis.floor.regret import floor_of, regret, regret_of
from playground.answers import Answer
from playground.corpora import pick
from playground.corpora.tinyworld import generate
from playground.objectives import find_objective
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.see import SeeAll
from playground.rng import generator
from playground.training import Run, Started, train
from playground.zoo import entry_for
from tests.runs import reviews, tiny

RULES = automaton("reviews")


def batch_of(objective, corpus=None, rows=8, length=16):
    """Held-out rows as an objective makes them into an example."""
    windows = (corpus or reviews()).windows(length, "held_out")
    return objective.batch(pick(windows, torch.arange(rows)), generator(0, "regret"))


def answers_of(floor, scores):
    """What a model with these log chances `[k, v]` answers where the floor asks, in the order of the first question."""
    target = floor.batch.targets[0]
    positions = target.loss_positions
    table = torch.zeros(len(positions.rows), scores.shape[1], dtype=torch.float64)
    table[[one.score for one in floor.asked]] = scores
    return (Answer(target, positions.rows, positions.positions, table, target.scored(target.labels)),)


@pytest.mark.parametrize("name", ["LM", "MLM", "PLM", "backward LM", "seq2seq LM", "span mask"])
def test_the_best_possible_prediction_has_no_regret_and_every_other_has_some(name):
    floor = floor_of(RULES, batch_of(find_objective(name)), 2)
    assert len(floor.asked) > 8
    assert float((floor.best.exp().sum(1) - 1).abs().max()) < 1e-9
    assert float((floor.shares.sum(1) - 1).abs().max()) < 1e-9
    assert regret_of(floor, answers_of(floor, floor.best)).total == pytest.approx(0, abs=1e-9)
    even = torch.zeros_like(floor.best)
    assert regret_of(floor, answers_of(floor, even)).total > 2


def test_shares_add_up_to_the_total():
    rules = automaton("agreement")
    floor = floor_of(rules, batch_of(find_objective("LM"), generate("agreement", 0, 20_000), length=24), 2)
    scores = torch.randn(floor.best.shape, generator=generator(1), dtype=torch.float64)
    found = regret_of(floor, answers_of(floor, scores))
    assert sum(nats for nats, _ in found.parts.values()) == pytest.approx(float(found.nats.sum()), abs=1e-6)
    assert sum(words for _, words in found.parts.values()) == pytest.approx(len(floor.asked), abs=1e-6)
    assert {"agreement, 1 attractor", "agreement, no attractor"} <= set(found.each)


def test_at_a_verb_only_its_number_is_agreement():
    """One that knows the number of every verb but not the verb has regret in the verb alone."""
    rules = automaton("agreement")
    floor = floor_of(rules, batch_of(find_objective("LM"), generate("agreement", 0, 20_000), length=24), 2)
    scores = floor.best.clone()
    for words in rules.verbs.values():
        chance = floor.best[:, words].exp().sum(1, keepdim=True) / int(words.sum())
        scores[:, words] = chance.log().expand(-1, int(words.sum()))
    found = regret_of(floor, answers_of(floor, scores.nan_to_num(neginf=-1e9)))
    assert found.total > 0.01
    agreement = [nats for name, (nats, _) in found.parts.items() if name.startswith("agreement")]
    assert agreement == pytest.approx([0.0] * len(agreement), abs=1e-9)


def test_words_that_stand_where_they_are_asked_for_are_no_predictions():
    floor = floor_of(RULES, batch_of(find_objective("MLM"), rows=16), 2)
    batch = floor.batch
    shown = batch.inputs.ids == batch.tokens.ids
    assert not any(shown[one.row, one.position] for one in floor.asked)
    assert len(floor.asked) < int(batch.targets[0].loss_mask.sum())


def trained(entry, corpus, steps, seed=0):
    """The learner of a run after so many steps."""
    for event in train(Run(entry, corpus, seed=seed, steps=steps)):
        if isinstance(event, Started):
            learner = event.learner
    learner.model.eval()
    return learner


@pytest.mark.slow
def test_a_model_that_learnt_is_not_below_the_best_possible():
    """Two seeds of GPT on the facts, nearly as good as can be; the whole table is in benchmarks/floor.py."""
    corpus, rules = generate("facts", 0, 40_000), automaton("facts")
    for seed in (0, 1):
        entry = tiny("GPT", {"width": 32, "layers": 2}, seq_len=16, batch_size=32, steps=150)
        learner = trained(entry, corpus, 150, seed)
        floor = floor_of(rules, batch_of(learner.objective, corpus, rows=64), 2)
        found = regret(learner.model, floor)
        assert -0.01 < found.total < 2
        assert found.total > -3 * found.standard_error


LEAKS = {
    "both sides and the next word": replace(find_objective("LM"), stages=(ShiftRight(), SeeAll(), AskNext())),
    "a prefix that is asked for its own words": find_objective("seq2seq LM").turn({"loss_on": "all"}),
    **{
        streams: find_objective("PLM").turn({"streams": streams})
        for streams in ("one that sees itself", "one blind to itself")
    },
}
"""Leaking constructions of published code; an order that turns round needs more steps than a test has."""


@pytest.mark.parametrize(
    "name", [*list(LEAKS)[:1], *(pytest.param(name, marks=pytest.mark.slow) for name in [*LEAKS][1:])]
)
def test_a_model_that_can_see_its_answer_falls_below_the_best_possible(name):
    entry = entry_for(LEAKS[name])
    entry = replace(
        entry,
        model=replace(entry.model, width=32, heads=2, layers=2),
        recipe=replace(entry.recipe, seq_len=16, batch_size=16, steps=300),
    )
    learner = trained(entry, reviews(), 200)
    floor = floor_of(RULES, batch_of(learner.objective, rows=32), 2)
    assert regret(learner.model, floor).total < -0.01
