"""A run of post-training as events: every few steps the policy over all answers is measured exactly."""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from playground.errors import UserError
from playground.finetuning.run.base import Base, replace_model
from playground.models import LanguageModel
from playground.optimisers import AdamW
from playground.posttraining.answer_space import AnswerSpace, check_causal, enumerate_answers, per_token_logps
from playground.posttraining.method import Method, Rollout, Selection, Setting, Trained
from playground.posttraining.optimum import kl, mean_under
from playground.posttraining.reward import Reward
from playground.rng import generator
from playground.zoo.recipe import BETAS

GRAD_CLIP = 1.0


@dataclass(frozen=True, eq=False)
class PostTraining:
    """What is to be run: a causal model as reference and start, prompts, a reward, a method, and one seed."""

    base: Base
    space: AnswerSpace
    reward: Reward
    method: Method
    seed: int = 0
    steps: int = 300
    measure_every: int = 10

    def __post_init__(self) -> None:
        check_causal(self.base.learner.objective)
        if self.base.learner.model.token_embedding.weight.shape[0] != len(self.space.corpus.tokenizer):
            raise UserError(f"The run was trained on another vocabulary than {self.space.corpus.name} has.")
        if self.steps < 1 or self.measure_every < 1:
            raise UserError(f"{self.steps} steps, measured every {self.measure_every}; both must be at least 1.")


@dataclass(frozen=True, eq=False)
class Measured:
    """The policy after a step (for best of n: after n draws), exactly, as means over the prompts; KL in nats.

    `loss` is that of the step before, None where nothing was trained; `pretraining_loss` is on held-out text, None
    where it cannot be measured, and `forgetting` is its rise. `kl_bound` bounds the KL of best of n. `log_probs`
    `[p, a]` is the policy and `rollout` what trained it last.
    """

    step: int
    seed: int
    loss: float | None
    kl_to_optimum: float
    kl_to_reference: float
    true_reward: float
    proxy_reward: float
    pretraining_loss: float | None
    forgetting: float | None
    seconds: float
    kl_bound: float | None = None
    log_probs: Tensor = field(default_factory=lambda: torch.zeros(0), repr=False)
    rollout: Rollout | None = field(default=None, repr=False)


def setting_of(run: PostTraining) -> Setting:
    """The reference, the rewards and the optimum of a run."""
    return Setting.of(run.base.learner.model.eval(), run.space, run.reward, run.method.step.beta)


def post_train(run: PostTraining, setting: Setting | None = None) -> Iterator[Measured]:
    """The events of a run; the first is the reference itself. The same run gives the same numbers.

    A `setting` of another seed of the same run saves its making.
    """
    setting = setting or setting_of(run)
    step = run.method.step
    yield from _train(run, step, setting) if isinstance(step, Trained) else _select(run, step, setting)


def _select(run: PostTraining, step: Selection, setting: Setting) -> Iterator[Measured]:
    before, began = run.base.pretraining_loss(run.base.learner), time.perf_counter()
    for n, log_probs, bound in step.distributions(setting):
        seconds = time.perf_counter() - began
        yield _measured(run, setting, n, None, log_probs, before, before, seconds, kl_bound=bound)


def _train(run: PostTraining, step: Trained, setting: Setting) -> Iterator[Measured]:
    learner = replace_model(run.base.learner, deepcopy(run.base.learner.model))
    before, seconds = run.base.pretraining_loss(learner), 0.0
    policy = Policy(learner.model.eval(), step, setting, run.steps, generator(run.seed, "post-training"))
    yield _measured(run, setting, 0, None, setting.reference.joint, before, before, seconds)
    for number in range(1, run.steps + 1):
        began = time.perf_counter()
        loss = policy.step()
        seconds += time.perf_counter() - began
        if not torch.isfinite(loss):
            raise UserError(f"The loss is {float(loss)} after step {number}; choose a lower learning_rate.")
        if number % run.measure_every == 0 or number == run.steps:
            log_probs, after = enumerate_answers(policy.model, run.space).joint, run.base.pretraining_loss(learner)
            policy.model.eval()
            yield _measured(
                run, setting, number, float(loss), log_probs, before, after, seconds, rollout=policy.rollout
            )


def _measured(
    run: PostTraining, setting: Setting, number: int, loss: float | None, log_probs: Tensor, before: float | None,
    after: float | None, seconds: float, kl_bound: float | None = None, rollout: Rollout | None = None,
) -> Measured:  # fmt: skip
    return Measured(
        number, run.seed, loss,
        kl(log_probs, setting.optimum.log_probs), kl(log_probs, setting.reference.joint),
        mean_under(log_probs, setting.true_rewards), mean_under(log_probs, setting.rewards),
        after, None if before is None or after is None else after - before, seconds, kl_bound, log_probs, rollout,
    )  # fmt: skip


@dataclass
class Policy:
    """The model that learns, with its optimiser; the answers of its last draw are used for `reuse` steps."""

    model: LanguageModel
    method: Trained
    setting: Setting
    steps: int
    rng: Generator
    taken: int = 0
    rollout: Rollout | None = None
    old_logps: Tensor | None = None

    def __post_init__(self) -> None:
        self.model.requires_grad_(True)
        self.optimiser = AdamW(self.model.parameters(), lr=self.method.learning_rate, betas=BETAS, weight_decay=0.0)

    def step(self) -> Tensor:
        """One step of AdamW; the loss before it."""
        if self.rollout is None or self.taken % self.method.reuse == 0:
            self.rollout, self.old_logps = self.method.draw(self.setting, self.model, self.rng), None
        logps = per_token_logps(self.model, self.rollout.batch, self.setting.space.words)
        self.old_logps = logps.detach() if self.old_logps is None else self.old_logps
        loss = self.method.loss(self.setting, self.rollout, logps, self.old_logps)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), GRAD_CLIP)
        for group in self.optimiser.param_groups:
            group["lr"] = self.method.learning_rate * (1 - self.taken / self.steps)
        self.optimiser.step()
        self.taken += 1
        return loss.detach()
