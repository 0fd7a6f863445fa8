"""Masked diffusion: times, what is hidden by them, and a loss that is the bound of the likelihood."""

from dataclasses import replace
from itertools import combinations, pairwise
from statistics import fmean

import pytest
import torch

from playground import leaks
from playground.analysis.lattice import lattice_of
from playground.analysis.predictions import one_row
from playground.answers import total_loss
from playground.errors import UserError
from playground.objectives import find_objective, plan_overrides
from playground.rng import generator
from playground.training import accumulation
from tests.runs import learner_of, reviews
from tests.texts import tokens_of

DIFFUSION = find_objective("masked diffusion")
SENTENCE = "the plot was very great .".split()


def words(rows, width=20):
    return tokens_of([list(range(40, 40 + width))] * rows)


def hidden(objective, rows=4000, **overrides):
    """The share of hidden words and the time of each row."""
    batch = objective.batch(words(rows), generator(0)) if not overrides else None
    batch = batch or objective.steps(words(rows), generator(0), overrides)[-1].batch
    return batch.selected.float().mean(1), batch.time[:, 0]


def test_times_are_even_and_the_share_of_hidden_words_is_the_time():
    share, time = hidden(DIFFUSION)
    assert 0 < time.min() < 0.01 and 0.99 < time.max() <= 1
    assert time.mean() == pytest.approx(0.5, abs=0.02)
    assert (share - time).mean() == pytest.approx(0, abs=0.01)
    for t in (0.1, 0.7):
        share, time = hidden(DIFFUSION, t=[t])
        assert (time == torch.tensor(t)).all()
        assert share.mean() == pytest.approx(t, abs=4 * (t * (1 - t) / 80_000) ** 0.5)


def test_with_a_count_each_number_of_gaps_is_as_likely_and_the_time_is_their_share():
    share, time = hidden(DIFFUSION.turn({"draw": "count"}))
    assert torch.equal(share, time)
    counts = (share * 20).round().long().bincount(minlength=21)
    assert counts[0] == 0
    assert ((counts[1:] - 200).abs() < 5 * 200**0.5).all()


@pytest.mark.parametrize("draw", ["time", "count"])
def test_a_later_time_hides_more_words_and_shows_none_again(draw):
    objective = DIFFUSION.turn({"draw": draw})
    batches = [objective.steps(words(50), generator(3), {"t": [t]})[-1].batch for t in (0.2, 0.5, 0.8, 1.0)]
    for before, after in pairwise(batches):
        assert not (before.selected & ~after.selected).any() and (after.selected & ~before.selected).any()
    assert batches[-1].selected.all()


@pytest.mark.parametrize("t", ["0", "1.5", "-0.2", "nan", "soon", "0.2,3", True])
def test_a_time_that_is_none_is_refused(t):
    with pytest.raises(UserError, match="it must be a time above 0 and at most 1"):
        plan_overrides.read("t", t)


@pytest.fixture(scope="module")
def model():
    return learner_of("RoBERTa").model.eval()


@torch.no_grad()
def loss(model, objective, tokens, **overrides):
    return float(total_loss(model(objective.steps(tokens, generator(0), overrides)[-1].batch))[0])


def test_its_mean_over_all_counts_and_sets_is_the_bound_of_the_lattice(model):
    """What trains, summed over every set of hidden words, is what mask-predict and any-order prediction say."""
    tokenizer = reviews().tokenizer
    ids = tokenizer.encode_words(SENTENCE)
    lattice, tokens, size = lattice_of(model, ids, tokenizer), one_row(ids, tokenizer), len(ids)
    objective = DIFFUSION.turn({"draw": "count"})
    means = [
        fmean(loss(model, objective, tokens, chosen=list(chosen)) for chosen in combinations(range(1, size + 1), k))
        for k in range(1, size + 1)
    ]
    assert fmean(means) * size == pytest.approx(lattice.any_order(), rel=1e-5)
    uniform = objective.turn({"loss_weight": "uniform"})
    sets = [list(chosen) for chosen in combinations(range(1, size + 1), 2)]
    assert loss(model, uniform, tokens, chosen=sets[3]) == pytest.approx(
        loss(model, objective, tokens, chosen=sets[3]), rel=1e-5
    ), "at one count the weight 1/t makes up for the words that are not hidden"


def test_a_time_weighs_hidden_words_and_all_words_are_counted(model):
    tokenizer = reviews().tokenizer
    tokens = one_row(tokenizer.encode_words(SENTENCE), tokenizer)
    one, half = (loss(model, DIFFUSION, tokens, chosen=[2, 5], t=[t]) for t in (1.0, 0.5))
    plain = loss(model, DIFFUSION.turn({"loss_weight": "uniform"}), tokens, chosen=[2, 5])
    assert half == pytest.approx(2 * one) and one == pytest.approx(plain * 2 / 6)


def test_parts_of_a_batch_have_the_loss_and_the_gradient_of_the_whole():
    learner = learner_of("RoBERTa")
    tokens = tokens_of([[40 + (7 * k + r) % 50 for k in range(4 + 3 * r)] for r in range(7)])
    batch = DIFFUSION.batch(tokens, generator(5))
    found = []
    for parts in (1, 3):
        learner.model.zero_grad()
        losses = accumulation.single_process(learner.model, batch, parts, "float32")
        found.append((losses, [p.grad.clone() for p in learner.model.parameters() if p.grad is not None]))
    (whole, gradient), (cut, same) = found
    assert cut.loss == pytest.approx(float(whole.loss), rel=1e-5)
    assert cut.terms["hidden words"] == pytest.approx(float(whole.terms["hidden words"]), rel=1e-5)
    for one, other in zip(gradient, same, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_the_mean_of_each_row_is_what_it_would_be_alone(model):
    tokens = words(6, width=9)
    batch = DIFFUSION.batch(tokens, generator(1))
    [answer] = model(batch)
    rows = answer.row_means()
    assert float(rows.mean()) == pytest.approx(float(answer.mean()), rel=1e-5)
    only = replace(answer.target, loss_weights=None, mean_over=None)
    plain = replace(answer, target=only).row_means()
    assert rows == pytest.approx((plain * batch.selected.sum(1) / 9 / batch.time[:, 0]), rel=1e-5)


BLOCKS = find_objective("block diffusion")


def block_losses(model, size, ids, tokenizer, **overrides):
    return loss(model, BLOCKS.turn({"block_size": size}), one_row(ids, tokenizer), **overrides)


def test_one_block_for_all_is_masked_diffusion(model):
    tokenizer = reviews().tokenizer
    ids = tokenizer.encode_words(SENTENCE)
    for plan in ({"chosen": [2, 5], "t": [0.5]}, {"chosen": [1, 2, 3, 4, 5, 6], "t": [1.0]}):
        plain = loss(model, DIFFUSION, one_row(ids, tokenizer), **plan)
        for size in (6, 64):
            assert block_losses(model, size, ids, tokenizer, **plan) == pytest.approx(plain, rel=1e-6)
    assert block_losses(model, 3, ids, tokenizer, **plan) != pytest.approx(plain, rel=1e-6)


def test_blocks_of_one_word_are_a_language_model(model):
    """All words in one pass cost what each costs alone, read off a [MASK] behind the words before it, causally."""
    tokenizer = reviews().tokenizer
    ids = tokenizer.encode_words(SENTENCE)
    whole = block_losses(model, 1, ids, tokenizer, t=[1.0])
    alone = [
        block_losses(model, 1, ids[: k + 1], tokenizer, chosen=[k + 1], t=[1.0]) * (k + 1) for k in range(len(ids))
    ]
    assert whole * len(ids) == pytest.approx(sum(alone), rel=1e-5)


def test_each_block_has_a_time_of_its_own():
    objective = BLOCKS.turn({"block_size": 5})
    batch = objective.batch(words(2000), generator(0))
    times = batch.time.view(-1, 4, 5)
    assert (times == times[:, :, :1]).all()
    corners = torch.corrcoef(times[:, :, 0].T)
    assert (corners - torch.eye(4)).abs().max() < 0.1, "drawn apart"
    share = batch.selected.view(-1, 4, 5).float().mean(2)
    assert (share - times[:, :, 0]).mean() == pytest.approx(0, abs=0.01)
    given = objective.steps(words(1), generator(0), {"t": [0.1, 1.0, 0.2, 1.0]})[-1].batch
    assert given.selected[0, 5:10].all() and given.selected[0, 15:].all()
    with pytest.raises(UserError, match="t has 3 times, but there are 4 blocks; give one, or one for each"):
        objective.steps(words(1), generator(0), {"t": [0.1, 1.0, 0.2]})
    with pytest.raises(UserError, match="t has 2 times, but the text has one"):
        DIFFUSION.steps(words(1), generator(0), {"t": [0.1, 1.0]})


def test_an_answer_that_its_own_block_could_read_would_be_a_leak():
    """The lamp knows that the text behind shows what is hidden."""
    batch = BLOCKS.steps(words(1, width=8), generator(0), {"t": [1.0]})[-1].batch
    assert not leaks.check(batch).leak
    cells = batch.inputs.attn_mask.overrides.clone()
    cells[0, 2, 8 + 2] = True
    mask = replace(batch.inputs.attn_mask, overrides=cells)
    assert leaks.check(replace(batch, inputs=replace(batch.inputs, attn_mask=mask))).leaking == (0, 1, 2, 3), (
        "the others of its block read it"
    )
