"""GRPO: answers that earn more than the mean of their group become likelier."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Generator, Tensor

from playground.knob import knob
from playground.models import LanguageModel
from playground.posttraining.answer_space import ANSWER_LEN, sample_answers
from playground.posttraining.losses import LOSS_TYPES, LossType, group_advantages, grpo_loss
from playground.posttraining.method import Method, Rollout, Setting, Trained


@dataclass(frozen=True, kw_only=True)
class GroupRelativePolicyOptimization(Trained):
    """Clipped policy gradient with the mean of a group as its baseline (arXiv:2402.03300, sec. 4.1).

    The estimate of the KL in the loss has the gradient of KL(reference || policy), not of KL(policy || reference),
    unless its bias is corrected; either way it counts each word alone.
    """

    value = "advantage"
    loss_type: str = knob(
        "dapo", choices=LOSS_TYPES,
        why="How the losses of words are put together: by answer (grpo), over all words, or over a constant (dr_grpo).",
    )  # fmt: skip
    num_generations: int = knob(16, 2, 256, unit="answers a prompt", why="A larger group has a steadier mean.")
    num_iterations: int = knob(1, 1, 8, unit="steps", why="Steps on the same answers; clipping matters from 2 on.")
    epsilon: float = knob(0.2, 0.01, 1.0, why="How far a chance may move from when the answer was drawn.")
    scale_rewards: str = knob(
        "group", choices=("group", "none"), why="Whether advantages are divided by the group's standard deviation."
    )
    use_bias_correction_kl: bool = knob(
        False, why="Weights the KL estimate by the ratio of chances, which gives it the gradient of the right KL."
    )

    @property
    def reuse(self) -> int:
        return self.num_iterations

    def draw(self, setting: Setting, model: LanguageModel, rng: Generator) -> Rollout:
        """A group of answers of every prompt, with their advantages."""
        prompts = torch.arange(len(setting.space.prompts)).repeat_interleave(self.num_generations)
        answers = sample_answers(model, setting.space, prompts, rng)
        rewards = setting.rewards[prompts, answers].view(-1, self.num_generations)
        return Rollout.of(setting, prompts, answers, group_advantages(rewards, self.scale_rewards).flatten())

    def loss(self, setting: Setting, rollout: Rollout, logps: Tensor, old_logps: Tensor) -> Tensor:
        return grpo_loss(
            logps, old_logps, rollout.ref_logps, rollout.values, setting.mask.expand_as(logps),
            loss_type=cast(LossType, self.loss_type), epsilon=self.epsilon, beta=self.beta,
            max_completion_length=ANSWER_LEN, use_bias_correction_kl=self.use_bias_correction_kl,
        )  # fmt: skip


GRPO = Method(
    name="GRPO",
    aliases=("group relative policy optimization", "Dr. GRPO", "DAPO", "RLVR"),
    idea="The policy writes a group of answers; those that earn more than the group's mean become likelier.",
    source="Shao et al., arXiv:2402.03300, sec. 4.1; Dr. GRPO, arXiv:2503.20783; DAPO, arXiv:2503.14476",
    unlike_paper="the loss is that of DAPO and beta is .1; answers have two words, so no length can be gamed",
    step=GroupRelativePolicyOptimization(),
)
