"""The exact optimum of reward less KL, its frontier, and the distribution that best-of-n draws from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from playground.posttraining.answer_space import AnswerSpace

BETAS = tuple(10 ** (k / 8) for k in range(-24, 17))
"""The values of beta of a frontier: .001 to 100."""


@dataclass(frozen=True)
class FrontierPoint:
    """The optimum at one beta: its mean reward, and its mean KL to the reference in nats."""

    beta: float
    reward: float
    kl: float


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best policy under `E[reward] - beta KL(policy || reference)` (arXiv:2305.18290, eq. 4).

    `reference` are the log-probabilities and `rewards` the rewards of all answers `[p, a]`.
    """

    reference: Tensor
    rewards: Tensor
    beta: float

    @cached_property
    def log_probs(self) -> Tensor:
        """Its log-probabilities `[p, a]`, proportional to reference times exp(reward / beta)."""
        return (self.reference + self.rewards / self.beta).log_softmax(-1)

    def objective(self, log_probs: Tensor) -> float:
        """What a policy `[p, a]` earns: mean reward less beta times its KL to the reference."""
        return mean_under(log_probs, self.rewards) - self.beta * kl(log_probs, self.reference)

    def frontier(self, betas: Sequence[float] = BETAS) -> tuple[FrontierPoint, ...]:
        """The optimum at each beta; no policy has more reward at that KL."""
        best = ((beta, replace(self, beta=beta).log_probs) for beta in betas)
        return tuple(FrontierPoint(b, mean_under(p, self.rewards), kl(p, self.reference)) for b, p in best)


def kl(log_probs: Tensor, other: Tensor) -> float:
    """KL(p || q) of distributions over all answers `[p, a]`, in nats, the mean over the prompts."""
    difference = torch.where(log_probs.exp() > 0, log_probs - other, 0.0)
    return float((log_probs.exp() * difference).sum(-1).mean())


def mean_under(log_probs: Tensor, values: Tensor) -> float:
    """The mean of the values of all answers `[p, a]` under a policy, over all prompts."""
    return float((log_probs.exp() * values).sum(-1).mean())


def best_of_n(reference: Tensor, rewards: Tensor, n: int) -> Tensor:
    """Log-probabilities `[p, a]` of the best of n draws, any of them where several are best.

    The best has the value r with the chance F(r)^n - F(r-)^n, and given its value it is distributed as the reference.
    """
    values, level = rewards.unique(return_inverse=True)
    mass = torch.zeros(len(reference), len(values), dtype=torch.float64).scatter_add_(1, level, reference.exp())
    upto = mass.cumsum(1).clamp(max=1.0)
    upto = upto / upto[:, -1:]
    below = torch.cat([torch.zeros_like(upto[:, :1]), upto[:, :-1]], dim=1)
    factor = (upto**n - below**n) / (upto - below)
    return reference + factor.nan_to_num(0.0).log().gather(1, level)


def top_answers(space: AnswerSpace, log_probs: Tensor, prompt: int, number: int = 8) -> list[tuple[str, float]]:
    """The likeliest answers to a prompt under a policy `[p, a]`, each with its chance."""
    best = log_probs[prompt].topk(min(number, log_probs.shape[1]))
    return [(space.answer_text(i), p) for i, p in zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)]
