"""What a stage is: a plan that holds all chance, and a build that holds none, over a whole batch."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from torch import Generator

from playground.batch import Batch

PlanOverrides = Mapping[str, Any]
"""A plan as a person writes it, all positions 1-based; the keys are those of `plan_overrides.SHAPES`."""


class Stage(Protocol):
    """A stage: its fields are knobs, `build` is a pure function of the batch and, where there is one, the plan.

    It inherits its `verb`, one of the six below.
    """

    verb: ClassVar[str]

    @property
    def build(self) -> Callable[..., Batch]: ...


@runtime_checkable
class Planned(Protocol):
    """A stage with chance: `override_plan` fits a drawn plan to overrides, `describe_plan` says it in words.

    `keys` are those of its plan; `follows` are keys of others that change its plan too. Without any of these among the
    overrides the drawn plan is taken as it is.
    """

    keys: ClassVar[tuple[str, ...]]
    follows: ClassVar[tuple[str, ...]]

    def plan(self, batch: Batch, rng: Generator) -> Any: ...

    @property
    def build(self) -> Callable[..., Batch]: ...

    def override_plan(self, batch: Batch, plan: Any, overrides: PlanOverrides) -> Any: ...

    def describe_plan(self, batch: Batch, plan: Any, row: int) -> dict[str, Any]: ...


@runtime_checkable
class Rounding(Planned, Protocol):
    """A stage that turns a share into a whole number, and says where that came out as something else."""

    def rounding(self, batch: Batch) -> str: ...


def planned(stage: object) -> TypeGuard[Planned]:
    """Whether a stage leaves something to chance; asking the protocol itself takes longer than most stages."""
    return hasattr(stage, "plan")


class Verb:
    """What all stages inherit."""

    keys: ClassVar[tuple[str, ...]] = ()
    follows: ClassVar[tuple[str, ...]] = ()


class Arrange(Verb):
    """A stage that puts the texts of a row together."""

    verb: ClassVar[str] = "arrange"


class Choose(Verb):
    """A stage that selects positions, spans, sentences or an order."""

    verb: ClassVar[str] = "choose"


class Change(Verb):
    """A stage that writes something else where positions were selected."""

    verb: ClassVar[str] = "change"


class Propose(Verb):
    """A stage that lets a generator, or the corpus' word counts, propose words, or a teacher propose targets."""

    verb: ClassVar[str] = "propose"


class See(Verb):
    """A stage that sets the attention masks."""

    verb: ClassVar[str] = "see"


class Ask(Verb):
    """A stage that says what is predicted, and with which loss."""

    verb: ClassVar[str] = "ask"
