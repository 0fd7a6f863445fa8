"""Laws of the exact optimum, its frontier, and best of n."""

import itertools
from math import log

import pytest
import torch

from playground.posttraining.losses import dpo_loss
from playground.posttraining.methods.best_of_n import kl_bound
from playground.posttraining.optimum import Optimum, best_of_n, kl, mean_under

REFERENCE = torch.randn(3, 50, generator=torch.Generator().manual_seed(0), dtype=torch.float64).log_softmax(-1)
REWARDS = torch.randint(4, (3, 50), generator=torch.Generator().manual_seed(1)).double() / 3
OPTIMUM = Optimum(REFERENCE, REWARDS, 0.1)


@pytest.mark.parametrize("size", [1e-3, 0.1, 3.0])
def test_every_other_policy_earns_less_by_beta_times_its_kl(size):
    best = OPTIMUM.objective(OPTIMUM.log_probs)
    noise = torch.randn(REFERENCE.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    other = (OPTIMUM.log_probs + size * noise).log_softmax(-1)
    assert OPTIMUM.objective(other) < best
    assert best - OPTIMUM.objective(other) == pytest.approx(0.1 * kl(other, OPTIMUM.log_probs), rel=1e-6)
    assert OPTIMUM.objective(REFERENCE) < best


def test_along_the_frontier_reward_and_kl_fall_with_beta():
    points = OPTIMUM.frontier()
    assert all(a.reward > b.reward - 1e-9 and a.kl > b.kl - 1e-9 for a, b in itertools.pairwise(points))
    assert points[0].reward == pytest.approx(1.0, abs=1e-6)
    assert points[-1].kl < 1e-4


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_the_distribution_of_the_best_of_n_sums_to_one_and_keeps_its_bound(n):
    best = best_of_n(REFERENCE, REWARDS, n)
    assert torch.allclose(best.exp().sum(1), torch.ones(3, dtype=torch.float64))
    assert kl(best, REFERENCE) <= log(n) - (n - 1) / n + 1e-12
    assert kl_bound(n) == pytest.approx(log(n) - (n - 1) / n)
    assert n > 1 or torch.allclose(best, REFERENCE)


def test_the_best_of_n_is_what_draws_give():
    n, draws, rng = 5, 200_000, torch.Generator().manual_seed(3)
    drawn = torch.multinomial(REFERENCE[0].exp(), n * draws, replacement=True, generator=rng).view(draws, n)
    rewards = REWARDS[0][drawn]
    rewards = rewards + torch.rand(rewards.shape, generator=rng) * 1e-6  # any of several best ones
    chosen = drawn.gather(1, rewards.argmax(1, keepdim=True))[:, 0]
    share = torch.bincount(chosen, minlength=50) / draws
    exact = best_of_n(REFERENCE, REWARDS, n)[0].exp()
    assert ((share - exact).abs() <= 5 * (exact * (1 - exact) / draws).sqrt() + 1e-9).all()
    assert exact.max() > 2 * REFERENCE[0].exp()[exact.argmax()]


def test_rewards_without_ties_give_the_power_of_the_distribution_function():
    rewards = torch.arange(50.0, dtype=torch.float64).expand(3, 50)
    upto = REFERENCE.exp().cumsum(1)
    expected = torch.diff(upto**3, dim=1, prepend=torch.zeros(3, 1, dtype=torch.float64))
    assert torch.allclose(best_of_n(REFERENCE, rewards, 3).exp(), expected)


def test_at_the_optimum_exact_preferences_have_no_gradient_and_at_the_reference_they_do():
    first, second = torch.randint(50, (2, 400), generator=torch.Generator().manual_seed(4))
    chance = (REWARDS[0][first] - REWARDS[0][second]).sigmoid()
    sizes = []
    for policy in (OPTIMUM.log_probs[0], REFERENCE[0]):
        logits = policy.clone().requires_grad_()
        logps = logits.log_softmax(-1)
        loss = dpo_loss(logps[first], logps[second], REFERENCE[0][first], REFERENCE[0][second], 0.1, chance)
        sizes.append(float(torch.autograd.grad(loss, logits)[0].abs().max()))
    assert sizes[0] < 1e-12 < 1e-5 < sizes[1]


def test_means_are_over_prompts():
    assert mean_under(REFERENCE, torch.ones_like(REFERENCE)) == pytest.approx(1.0)
    assert kl(REFERENCE, REFERENCE) == 0.0
