"""Influence against closed forms, and a planted teacher."""

from dataclasses import replace

import pytest
import torch

from playground.analysis.influence import (
    GradientDescent,
    agreement,
    curvature,
    descend,
    dot_product,
    gradient,
    influence_function,
    left_out,
    solve,
    tracin,
)  # fmt: skip
from playground.analysis.instrument import instrument_named
from playground.analysis.instruments.data_influence import Copy, training_of
from playground.answers import total_loss
from playground.corpora import pick
from playground.rng import generator
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import run_of, tiny

GROUPS = 12


def regression(steps=400, rate=0.3):
    """Ridge regression with one point a group; its optimum without a group has a closed form."""
    rng = generator(0, "regression")
    x, y = torch.randn(GROUPS, 3, generator=rng).double(), torch.randn(GROUPS, generator=rng).double()
    new, wanted = torch.randn(3, generator=rng).double(), torch.tensor(0.7).double()

    def terms(weights, _):
        return ((x @ weights[0] - y).square() + 0.5 * weights[0].square().sum()) / GROUPS

    def query(weights):
        return (new @ weights[0] - wanted).square()

    return GradientDescent((torch.zeros(3).double(),), terms, [0] * steps, rate, [0] * GROUPS), query, (x, y)


def test_descent_ends_where_the_closed_form_says():
    training, _, (x, y) = regression()
    wanted = torch.linalg.solve(x.T @ x + 0.5 * GROUPS * torch.eye(3).double(), x.T @ y)
    torch.testing.assert_close(descend(training)[-1][0], wanted)
    kept = torch.arange(GROUPS) != 4
    less = torch.linalg.solve(x[kept].T @ x[kept] + 0.5 * (GROUPS - 1) * torch.eye(3).double(), x[kept].T @ y[kept])
    torch.testing.assert_close(descend(training, without=4)[-1][0], less)


def test_the_influence_function_is_the_closed_form_and_ranks_as_retraining_does():
    training, query, (x, _) = regression()
    end = descend(training)[-1]
    hessian = (2 * x.T @ x + GROUPS * torch.eye(3).double()) / GROUPS
    own = torch.stack([gradient(lambda w, g=g: training.terms(w, 0)[g], end)[0] for g in range(GROUPS)])
    wanted = own @ torch.linalg.solve(hessian + 0.1 * torch.eye(3).double(), gradient(query, end)[0])
    found = influence_function(training, query, end, 0.1, 20)
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-6)
    truth = left_out(training, query)
    assert agreement(influence_function(training, query, end, 1e-6, 20), truth).value > 0.9


def test_one_small_step_is_what_tracin_says():
    """After one small step, leaving a group out changes the loss by the rate times the product of gradients."""
    training, query, _ = regression(steps=1, rate=1e-4)
    path = descend(training, keep=1)
    torch.testing.assert_close(left_out(training, query), tracin(training, query, path[:-1]), rtol=1e-2, atol=1e-9)
    torch.testing.assert_close(tracin(training, query, path[:-1]) / 1e-4, dot_product(training, query, path[0]))


def test_curvature_and_solver_are_those_of_a_matrix():
    rng = generator(1)
    root = torch.randn(6, 6, generator=rng).double()
    matrix = root @ root.T + torch.eye(6).double()
    weights = (torch.randn(6, generator=rng).double(),)
    vector = torch.randn(6, generator=rng).double()
    torch.testing.assert_close(curvature(lambda w: w[0] @ matrix @ w[0] / 2, weights, vector), matrix @ vector)
    torch.testing.assert_close(matrix @ solve(lambda v: matrix @ v, vector, 50), vector, rtol=1e-3, atol=1e-3)
    assert torch.equal(solve(lambda v: -v, vector, 5), vector), "where it bends downwards at once the gradient is left"


def test_agreement_has_an_interval_that_holds_the_truth():
    one = torch.randn(64, generator=generator(0))
    same = agreement(one, one)
    assert same.value == pytest.approx(1.0) and same.low > 0.99
    lots = [agreement(torch.randn(64, generator=generator(k)), one) for k in range(1, 60)]
    assert sum(a.low <= 0 <= a.high for a in lots) >= 52
    assert agreement(torch.ones(64), one).value == 0.0


def subject_of(name="GPT", **kwargs):
    run = run_of(entry=tiny(name, {"layers": 1}))
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus, name)


def settings(**changes):
    instrument = instrument_named("influence of texts")
    small = {"groups": 8, "rows": 1, "steps": 6, "batch": 4, "solver_steps": 3}
    return instrument, replace(instrument.settings, **small | changes)


@pytest.mark.parametrize("name", ["RoBERTa", "ELMo"])
def test_the_terms_of_all_groups_are_the_loss_that_trains(name):
    subject = subject_of(name)
    copy = Copy(subject.model)
    training, words = training_of(subject, copy, settings()[1])
    assert training.groups == len(words) == 8
    length = subject.held_out.ids.shape[1]
    rows = torch.randperm(len(subject.corpus.windows(length).ids), generator=subject.rng("influence rows"))[:4]
    batch = subject.objective.batch(pick(subject.corpus.windows(length), rows), subject.rng("influence", 0))
    wanted, _ = total_loss(subject.model.eval()(batch))
    torch.testing.assert_close(training.terms(copy.start, 0).sum(), wanted)
    torch.testing.assert_close(copy.mean_loss(copy.start, batch), wanted)


def test_a_planted_teacher_is_found_by_retraining_and_by_every_estimate():
    """The query is what one group says, so without that group its loss is highest."""
    subject = subject_of("GPT")
    copy = Copy(subject.model)
    training, _ = training_of(subject, copy, settings(groups=8, rows=1, steps=12)[1])

    def query(weights):
        return 8 * training.terms(weights, 0)[2]

    path = descend(training, keep=3)
    end = path[-1]
    for found in (
        left_out(training, query), dot_product(training, query, end), tracin(training, query, path[:-1]),
        influence_function(training, query, end, 10.0, 5),
    ):  # fmt: skip
        assert int(found.argmax()) == 2


def test_the_instrument_answers_and_a_sentence_can_be_asked_for():
    instrument, small = settings()
    subject = subject_of("RoBERTa")
    found = instrument.look(subject, small)
    assert len(found.numbers) == 4 and all(-1 <= n.value <= 1 for n in found.numbers[1:])
    asked = instrument.look(subject, replace(small, sentence="the plot was [MASK] .", answer="great"))
    assert "great" in asked.numbers[0].unit and asked.numbers[0].value > 0


def test_the_checkpoint_that_learnt_it_is_where_the_loss_fell():
    instrument = instrument_named("influence of checkpoints")
    subject = subject_of("GPT")
    assert instrument.missing(subject).startswith("This run has only one checkpoint")
    start, copy = subject_of("GPT"), Copy(subject.model)
    training, _ = training_of(subject, copy, settings(steps=20)[1])
    end = descend(training)[-1]
    with torch.no_grad():
        for parameter, value in zip(subject.model.parameters(), end, strict=True):
            parameter.copy_(value)
    looked = replace(subject, step=20, earlier={0: lambda: start.model, 1: lambda: start.model})
    found = instrument.look(looked)
    assert found.headline.startswith("Between steps 1 and 20 the loss of 8 held-out rows fell most")
    assert found.tables[1].columns["fall"][0] == 0.0
