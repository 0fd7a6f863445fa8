"""A method of post-training: what it draws in a step, its loss, its knobs, and where it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.catalog import choose, find, year
from playground.knob import Knob, knob, knobs, spelt, turn, written
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

PACKAGE = "playground.posttraining.methods"


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


@dataclass(frozen=True)
class Method:
    """A method of the catalogue; `unlike_paper` says how it differs from its source."""

    name: str
    idea: str
    source: str
    step: "Trained | Selection"
    aliases: tuple[str, ...] = ()
    unlike_paper: str = ""

    @property
    def order(self) -> tuple[int]:
        """Its position in lists: by the year of its source."""
        return (year(self.source),)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """Its knobs, with the settings of the catalogue as defaults."""
        return tuple(replace(k, default=getattr(self.step, k.name)) for k in knobs(self.step))

    def turn(self, settings: Mapping[str, Any]) -> "Method":
        """The same method with some knobs turned."""
        return replace(self, step=turn(self.step, settings))

    def __str__(self) -> str:
        """The method as a person writes it, with the knobs that are not as in the catalogue."""
        changed = written(self.step, ", ", unlike=find_method(self.name).step)
        return f"{self.name}({changed})" if changed else self.name


def methods() -> dict[str, Method]:
    """Every method by name."""
    return find(PACKAGE, Method)


def find_method(line: str) -> Method:
    """One method by its name or an alias, with its knobs in brackets, as in "DPO(beta=0.2)"."""
    name, settings = spelt(line)
    method = choose(PACKAGE, Method, name, "method of post-training")
    return method.turn(settings) if settings else method
