"""Losses of post-training as functions of log-probabilities; answers may have unequal lengths.

Axes: b answers, u words of the longest one; `mask` `[b, u]` is 1 at the words of an answer.
"""

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

LossType = Literal["grpo", "bnpo", "dr_grpo", "dapo"]
LOSS_TYPES: tuple[LossType, ...] = get_args(LossType)

STABLE = 1e-4
"""What is added to the standard deviation of the rewards of a group, as in TRL."""


def sft_loss(logps: Tensor, mask: Tensor) -> Tensor:
    """The mean cross-entropy of a word of the answers (arXiv:2203.02155, sec. 3.5)."""
    return -(logps * mask).sum() / mask.sum().clamp(min=1.0)


def dpo_loss(
    chosen: Tensor,
    rejected: Tensor,
    ref_chosen: Tensor,
    ref_rejected: Tensor,
    beta: float,
    prefers: Tensor | float = 1.0,
) -> Tensor:
    """DPO on log-probabilities of whole answers `[b]` (arXiv:2305.18290, eq. 7).

    `prefers` is the chance that the first answer of a pair is preferred: 1 for a label, the chance itself where it is
    known, which gives the expected loss over labels.
    """
    margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
    return -(prefers * logsigmoid(margin) + (1 - prefers) * logsigmoid(-margin)).mean()


def group_advantages(rewards: Tensor, scale_rewards: str) -> Tensor:
    """Rewards `[groups, g]` less the mean of their group, over its standard deviation unless "none" (sec. 4.1.2)."""
    centred = rewards - rewards.mean(1, keepdim=True)
    return centred if scale_rewards == "none" else centred / (rewards.std(1, keepdim=True) + STABLE)


def grpo_loss(
    logps: Tensor,
    old_logps: Tensor,
    ref_logps: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    loss_type: LossType,
    epsilon: float,
    beta: float,
    max_completion_length: int,
    use_bias_correction_kl: bool = False,
) -> Tensor:
    """The clipped loss of GRPO (arXiv:2402.03300, eq. 3) with one of four means over words; advantages `[b]`.

    "grpo": mean over words of each answer, then over answers; "bnpo" and "dapo": over all words (arXiv:2503.14476, eq.
    8; the two differ only where a batch is cut into parts); "dr_grpo": sum over a constant (arXiv:2503.20783, sec. 3).
    """
    ratio = (logps - old_logps).exp()
    signed = advantages[:, None]
    losses = -torch.min(ratio * signed, ratio.clamp(1 - epsilon, 1 + epsilon) * signed)
    if beta:
        ahead = ref_logps - logps
        estimate = ahead.exp() - ahead - 1
        losses = losses + beta * (estimate * ratio if use_bias_correction_kl else estimate)
    losses = losses * mask
    if loss_type == "grpo":
        return (losses.sum(1) / mask.sum(1).clamp(min=1.0)).mean()
    if loss_type == "dr_grpo":
        return losses.sum() / (len(losses) * max_completion_length)
    return losses.sum() / mask.sum().clamp(min=1.0)
