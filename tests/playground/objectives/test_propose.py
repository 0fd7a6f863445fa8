"""Words that a generator proposes, and wrong words beside the right one: propose/words.py, propose/wrong.py."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from playground.answers import Answer, Target, Word
from playground.batch import Action, begin
from playground.objectives import find_objective
from playground.objectives.bind import with_generator
from playground.objectives.propose import SampleFromGenerator, sample
from playground.objectives.propose.wrong import SampleNegatives, noise_probability
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.laws import assert_law, assert_share
from tests.texts import FIRST, SPECIALS, WORDS, plain_rows, tokens_of

# a generator


def test_a_uniform_generator_is_right_once_in_v():
    batch = find_objective("RTD").turn({"mask_ratio": 0.5}).batch(plain_rows(2000, 30), generator(17))
    number = int(batch.selected.sum())
    assert number >= 20_000
    assert_share(int(batch.targets[0].labels.sum()), number, 1 - 1 / WORDS)


def test_rtd_shows_the_generator_85_percent_masks_and_nothing_random():
    batch = find_objective("RTD").turn({"mask_ratio": 0.5}).batch(plain_rows(2000, 30), generator(18))
    action = batch.generator.actions[batch.selected]
    assert_share(int((action == Action.MASKED).sum()), len(action), 0.85)
    assert not (action == Action.RANDOMISED).any()


def test_proposed_words_follow_the_generators_softmax():
    scores = torch.tensor([2.0, 0.0, -1.0, 1.0, 0.5])
    words = sample(scores.expand(2000, 12, 5), generator(19))
    assert_law(Counter(words.flatten().tolist()), dict(enumerate(scores.double().softmax(0).tolist())))


def test_a_stage_with_a_proposer_samples_from_its_scores():
    scores = torch.full((SPECIALS.size,), float("-inf"))
    scores[[50, 51, 52]] = torch.tensor([1.0, 0.0, -1.0])
    stage = SampleFromGenerator(lambda batch: scores.expand(int(batch.selected.sum()), -1))
    batch = begin(plain_rows(2000, 24))
    batch = replace(batch, selected=torch.arange(24).expand(2000, 24) % 2 == 0)
    words = stage.plan(batch, generator(20))
    assert words[~batch.selected].equal(batch.tokens.ids[~batch.selected]), "only chosen words are drawn"
    shares = scores[50:53].double().softmax(0).tolist()
    assert_law(Counter(words[batch.selected].tolist()), dict(zip((50, 51, 52), shares, strict=True)))


@pytest.mark.parametrize("proposes", [True, False])
def test_the_right_word_can_be_forbidden_and_all_others_keep_their_law(proposes):
    """ELECTRA's option: every other word as likely as before, the right one never (objectives reference, 12)."""
    weights = torch.full((SPECIALS.size,), float("-inf"))
    weights[FIRST_WORD:] = 0.0
    weights[[50, 51, 52]] = torch.tensor([3.0, 2.0, 1.0]) if proposes else torch.zeros(3)
    tokens = tokens_of([[50, 51] * 10] * 1500)
    proposer = (lambda batch: weights.expand(int(batch.selected.sum()), -1)) if proposes else None
    objective = find_objective("RTD").turn({"mask_ratio": 1.0, "disallow_correct": True})
    objective = with_generator(objective, proposer) if proposer else objective
    batch = objective.batch(tokens, generator(21))
    assert not (batch.actions == Action.SAME_BY_LUCK).any()
    assert bool((batch.actions == Action.REPLACED).all())
    for right in (50, 51):
        shares = weights.exp().double().index_fill(0, torch.tensor([right]), 0.0)
        shares = shares / shares.sum()
        drawn = Counter(batch.inputs.ids[batch.tokens.ids == right].tolist())
        assert_law(drawn, {word: float(p) for word, p in enumerate(shares.tolist()) if p})
    allowed = objective.turn({"disallow_correct": False}).batch(tokens, generator(21))
    assert bool((allowed.actions == Action.SAME_BY_LUCK).any())


# wrong words


def counted(*numbers):
    counts_ = torch.zeros(SPECIALS.size)
    counts_[FIRST : FIRST + len(numbers)] = torch.tensor(numbers)
    return counts_


def test_noise_is_the_unigram_law_to_the_power_of_three_quarters():
    """.90 / .09 / .01 become .825 / .147 / .028 (inventory, appendix D)."""
    tokens = replace(plain_rows(2, 3), word_counts=counted(90.0, 9.0, 1.0))
    law = noise_probability(tokens, 0.75)
    assert law[FIRST : FIRST + 3].tolist() == pytest.approx([0.825, 0.147, 0.028], abs=5e-4)
    assert float(law.sum()) == pytest.approx(1.0)
    assert noise_probability(tokens, 0.0)[FIRST : FIRST + 3].tolist() == pytest.approx([1 / 3] * 3)
    assert noise_probability(tokens, 1.0)[FIRST : FIRST + 3].tolist() == pytest.approx([0.9, 0.09, 0.01])


def test_wrong_words_follow_the_noise_and_are_never_the_right_one():
    tokens = replace(plain_rows(4000, 3), word_counts=counted(90.0, 9.0, 1.0))
    steps = find_objective("CBOW NS").steps(tokens, generator(6))
    drawn, target = steps[-1].plan, steps[-1].batch.targets[0]
    law = noise_probability(tokens, 0.75)
    assert_law(Counter(drawn.flatten().tolist()), {w: float(law[w]) for w in range(FIRST, FIRST + 3)})
    wrong = target.kind.negatives
    assert not (wrong == target.labels[..., None]).any()
    assert torch.equal(wrong == -1, drawn == target.labels[..., None])


def test_without_counts_the_batch_is_counted_and_unknown_words_are_never_wrong():
    tokens = tokens_of([[FIRST, FIRST, FIRST + 1, SPECIALS.unknown, SPECIALS.sep]])
    assert noise_probability(tokens, 1.0).nonzero().flatten().tolist() == [FIRST, FIRST + 1]
    assert float(noise_probability(tokens, 1.0)[FIRST]) == pytest.approx(2 / 3)
    assert torch.equal(
        noise_probability(tokens_of([[SPECIALS.unknown]]), 0.75) > 0, torch.arange(SPECIALS.size) >= FIRST
    )


LAW = torch.tensor([0.7, 0.2, 0.08, 0.02], dtype=torch.double)


def every_draw(number, loss):
    """The loss `[m]` of every right word with every list of draws, as a function of scores `[4]`, and its chance."""
    right, *drawn = (x.flatten() for x in torch.meshgrid(*[torch.arange(4)] * (1 + number), indexing="ij"))
    tokens = replace(plain_rows(1, len(right)), word_counts=counted(*(100 * LAW).tolist()))
    labels, draws = right[None] + FIRST, torch.stack(drawn, dim=1)[None] + FIRST
    target = Target("word", Word(), "inputs", labels, torch.ones_like(labels) > 0, labels)
    stage = SampleNegatives(number, loss=loss)
    (asked,) = stage.build(replace(begin(tokens), targets=(target,)), draws).targets
    noise = noise_probability(tokens, 0.75)[FIRST : FIRST + 4]
    chance = LAW[right] * noise[draws[0] - FIRST].prod(1)
    ids = torch.cat([labels[0][:, None], draws[0]], dim=1) - FIRST
    positions = asked.loss_positions
    return chance, lambda scores: Answer(asked, positions.rows, positions.positions, scores[ids], labels[0]).losses()


@pytest.mark.parametrize("number", [1, 3])
def test_what_nce_likes_best_is_the_logarithm_of_each_chance(number):
    """-.36 -1.61 -2.53 -3.91 for chances of .7 .2 .08 .02, summed over every draw (Mnih and Kavukcuoglu 2013)."""
    assert LAW.log().tolist() == pytest.approx([-0.36, -1.61, -2.53, -3.91], abs=0.006)
    best = {}
    for loss in ("nce", "sampled"):
        chance, losses = every_draw(number, loss)
        assert float(chance.sum()) == pytest.approx(1.0)
        scores = torch.zeros(4, dtype=torch.double, requires_grad=True)
        optimiser = torch.optim.LBFGS([scores], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-15)

        def again(chance=chance, losses=losses, scores=scores, optimiser=optimiser):
            optimiser.zero_grad()
            total = (chance * losses(scores)).sum()
            total.backward()
            return total

        optimiser.step(again)
        best[loss] = scores.detach()
    torch.testing.assert_close(best["nce"], LAW.log(), atol=1e-4, rtol=0)
    assert (best["sampled"] - LAW.log()).abs().max() > 0.1, "negative sampling estimates something else"


def test_nce_keeps_a_draw_that_is_the_right_word_and_negative_sampling_skips_it():
    for loss, kept in (("nce", True), ("sampled", False), ("hinge", False), ("softmax", False)):
        objective = find_objective("CBOW NS").turn({"loss": loss})
        tokens = replace(plain_rows(200, 3), word_counts=counted(90.0, 9.0, 1.0))
        steps = objective.steps(tokens, generator(6))
        target, drawn = steps[-1].batch.targets[0], steps[-1].plan
        hit = target.loss_mask[..., None] & (drawn == target.labels[..., None])
        assert bool(hit.any())
        assert torch.equal(target.kind.negatives[hit], drawn[hit]) is kept
        assert not kept or bool((target.kind.negatives[target.loss_mask] >= 0).all())
