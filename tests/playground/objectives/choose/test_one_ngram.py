"""An n-gram that is matched with its text among those of the batch: choose/one_ngram.py and AskInBatchContrast."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin
from playground.corpora.corpus import pick
from playground.models import Architecture, make_model
from playground.objectives import find_objective
from playground.objectives.choose import ChooseNgram
from playground.rng import generator
from tests.laws import assert_mean, assert_share
from tests.oracles import stages
from tests.stories import texts
from tests.texts import FIRST, SPECIALS, batches, seeds, tokens_of


def test_ngram_lengths_follow_the_rounded_normal_law():
    """N(5, 1) rounded: 3 .060, 4 .241, 5 .383, 6 .242, 7 .061 (inventory, appendix D), mean 5."""
    lengths = ChooseNgram().lengths(40_000, generator(9))
    shares = torch.bincount(lengths, minlength=11) / len(lengths)
    assert shares[3:8].tolist() == pytest.approx([0.060, 0.241, 0.383, 0.242, 0.061], abs=0.012)
    for length, share in zip(range(3, 8), (0.0606, 0.2417, 0.3829, 0.2417, 0.0606), strict=True):
        assert_share(int((lengths == length).sum()), len(lengths), share)
    assert_mean(lengths, 5.0)
    assert ChooseNgram(10.0, 5.0).lengths(4000, generator(1)).max() == 10
    assert ChooseNgram(1.0, 5.0).lengths(4000, generator(1)).min() == 1


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, mean=st.floats(1.0, 10.0))
def test_every_text_of_two_words_loses_one_run_and_keeps_a_word(tokens, seed, mean):
    batch = begin(tokens)
    stage = ChooseNgram(mean)
    plan = stage.plan(batch, generator(seed))
    chosen = stage.build(batch, plan).selected
    for row, text in enumerate(texts(tokens)):
        allowed, marked = stages.maskable(text), chosen[row, : len(text)].tolist()
        assert (sum(marked) > 0) == (sum(allowed) > 1)
        assert sum(marked) == max(0, int(plan.length[row])), "no run is cut short by a special token"
        assert sum(marked) < max(1, sum(allowed))


def dim(tokens, seed=0, **knobs):
    """The loss of DIM with a small model, and the answer."""
    batch = find_objective("DIM").turn(knobs).batch(tokens, generator(seed))
    model = make_model(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), SPECIALS.size, generator(1)).double()
    (answer,) = model(batch)
    return float(answer.mean().detach()), answer, batch


def varied(rows, length=9):
    return tokens_of([[FIRST + (r * 7 + k * (r + 3)) % 50 for k in range(length)] for r in range(rows)])


def test_scores_are_contexts_by_ngrams_with_the_diagonal_right():
    loss, answer, _ = dim(varied(5))
    assert answer.scores.shape == (5, 5)
    assert answer.labels.tolist() == [0, 1, 2, 3, 4]
    slow = -(answer.scores.diagonal() - answer.scores.exp().sum(1).log()).mean()
    assert loss == pytest.approx(slow.item())
    assert loss != pytest.approx(float((answer.scores.diagonal() - answer.scores.abs().sum(1).log()).mean())), (
        "as printed"
    )


def test_a_batch_of_one_text_costs_nothing():
    assert dim(varied(1))[0] == 0.0


def test_the_loss_is_the_same_in_any_order_of_the_batch():
    tokens = varied(6)
    loss = dim(tokens)[0]
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    steps = find_objective("DIM").steps(tokens, generator(0))
    plans = tuple(s.plan and replace(s.plan, start=s.plan.start[order], length=s.plan.length[order]) for s in steps)
    again = find_objective("DIM").replay(pick(tokens, order), plans)[-1].batch
    model = make_model(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), SPECIALS.size, generator(1)).double()
    assert float(model(again)[0].mean().detach()) == pytest.approx(loss, rel=1e-9)
    assert math.log(6) - loss <= math.log(6)


def test_an_equal_ngram_of_another_text_is_no_wrong_answer():
    tokens = tokens_of([[FIRST] * 12, [FIRST] * 12, [FIRST + 1] * 12])
    knobs = {"mean_length": 3.0, "length_std": 0.0}
    _, answer, _ = dim(tokens, **knobs)
    assert answer.scores.isinf().tolist() == [[False, True, False], [True, False, False], [False] * 3]
    assert math.isfinite(float(answer.mean()))
    assert not dim(tokens, duplicates_as_negatives=True, **knobs)[1].scores.isinf().any()


def test_a_visible_ngram_is_a_leak():
    """The check of leaks treats a match as a whole run of words."""
    batch = find_objective("DIM").batch(varied(2), generator(0))
    assert not leaks.check(batch).leak
    shown_again = replace(batch, actions=torch.full_like(batch.actions, Action.KEPT))
    verdict = leaks.check(shown_again)
    assert verdict.leak
    assert verdict.path[-1].position == 0


def test_infoword_is_words_and_runs():
    batch = find_objective("InfoWord").batch(varied(3), generator(0))
    assert [target.name for part in batch.with_auxiliary for target in part.targets] == ["hidden words", "match"]
    assert find_objective("InfoWord").misprint is find_objective("DIM").misprint
    assert "\\exp" not in find_objective("DIM").misprint.latex
