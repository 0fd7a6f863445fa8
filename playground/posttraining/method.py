"""A method of post-training: what it draws in a step, its loss, its knobs, and where it comes from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.knob import knob
from playground.method import CatalogMethod
from playground.models import LanguageModel
from playground.posttraining.answer_space import (
    ANSWER_LEN,
    AnswerLogProbs,
    AnswerSpace,
    answer_batch,
    enumerate_answers,
)
from playground.posttraining.grammar import continuation_chances
from playground.posttraining.optimum import Optimum
from playground.posttraining.reward import Reward


@dataclass(frozen=True, eq=False)
class Setting:
    """What does not change in a run: the answers, the reference, and the rewards of all answers `[p, a]`."""

    space: AnswerSpace
    reference: AnswerLogProbs
    rewards: Tensor
    true_rewards: Tensor
    beta: float

    @classmethod
    def of(cls, model: LanguageModel, space: AnswerSpace, reward: Reward, beta: float) -> "Setting":
        """The setting in which `model` as it is now is the reference."""
        scores = reward.score(space).flatten(1)
        true = reward.true.score(space).flatten(1) if reward.proxy_of else scores
        return cls(space, enumerate_answers(model, space), scores, true, beta)

    @cached_property
    def optimum(self) -> Optimum:
        """The exact optimum for this reward and beta."""
        return Optimum(self.reference.joint, self.rewards, self.beta)

    @cached_property
    def grammar(self) -> Tensor:
        """The chance that the grammar of the corpus writes each answer, `[p, a]`."""
        return continuation_chances(self.space).flatten(1)

    @cached_property
    def mask(self) -> Tensor:
        """Which words of an answer count: all, for every answer has as many."""
        return torch.ones(1, ANSWER_LEN)

    def draw(self, chances: Tensor, number: int, rng: Generator) -> tuple[Tensor, Tensor]:
        """Prompts `[k]`, each `number` times, and as many answers `[k]` drawn from chances `[p, a]`."""
        answers = torch.multinomial(chances, number, replacement=True, generator=rng).flatten()
        return torch.arange(len(chances)).repeat_interleave(number), answers


@dataclass(frozen=True, eq=False)
class Rollout:
    """Answers `[k]` to prompts `[k]`, as the batch that trains; `values` are the method's for each or each pair.

    `ref_logps` are the reference's log-probabilities of their words `[k, 2]`.
    """

    prompts: Tensor
    answers: Tensor
    batch: Batch
    ref_logps: Tensor
    values: Tensor

    @classmethod
    def of(cls, setting: Setting, prompts: Tensor, answers: Tensor, values: Tensor) -> "Rollout":
        """The rollout of these answers, whose words alone are in the loss mask."""
        space = setting.space
        batch = answer_batch(space.tokens(prompts, answers), space.prompt_len)
        ref_logps = setting.reference.per_token(prompts, space.pair(answers)).float()
        return cls(prompts, answers, batch, ref_logps, values.float())


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A method that takes steps of AdamW."""

    trains: ClassVar[bool] = True
    value: ClassVar[str] = ""
    """What the `values` of its rollouts are: "preference" of a pair, "advantage" of an answer; empty where none are."""
    beta: float = knob(
        0.1, 0.01, 10.0, unit="reward per nat", why="The price of each nat of KL to the reference; more stays closer."
    )
    learning_rate: float = knob(2e-3, 1e-6, 0.1, why="The rate of AdamW at the first step; it falls linearly to 0.")

    @property
    def reuse(self) -> int:
        """How many steps are taken on the answers of one draw."""
        return 1

    def draw(self, setting: Setting, model: LanguageModel, rng: Generator) -> Rollout:
        """The answers that a step trains on."""
        raise NotImplementedError

    def loss(self, setting: Setting, rollout: Rollout, logps: Tensor, old_logps: Tensor) -> Tensor:
        """The loss, from the policy's log-probabilities `[k, 2]` now and when the answers were drawn."""
        raise NotImplementedError


class Selection(Protocol):
    """A method that draws from the reference and trains nothing."""

    trains: ClassVar[bool]

    @property
    def beta(self) -> float:
        """The beta of the optimum that it is compared with."""
        ...

    def distributions(self, setting: Setting) -> Iterator[tuple[int, Tensor, float]]:
        """For rising n: n, the exact log-probabilities `[p, a]` of what is selected, and a bound of their KL."""
        ...


@dataclass(frozen=True, kw_only=True)
class Method(CatalogMethod):
    """A method of the catalogue."""

    package = "playground.posttraining.methods"
    kind = "method of post-training"

    step: "Trained | Selection"


methods, find_method = Method.all, Method.find
