"""What a stage is: a plan that holds all chance, and a build that holds none, over a whole batch."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from torch import Generator

from playground.example import Batch

Wishes = Mapping[str, Any]
"""A plan as a person writes it, all positions 1-based; the keys are those of `wishes.SHAPES`."""


class Stage(Protocol):
    """A stage: its fields are knobs, `build` is a pure function of the example and, where there is one, the plan."""

    @property
    def build(self) -> Callable[..., Batch]: ...


@runtime_checkable
class Planned(Protocol):
    """A stage with chance: `revise` bends a drawn plan to a person's wishes, `tell` says a plan in their words."""

    keys: ClassVar[tuple[str, ...]]

    def plan(self, example: Batch, rng: Generator) -> Any: ...

    @property
    def build(self) -> Callable[..., Batch]: ...

    def revise(self, example: Batch, plan: Any, wishes: Wishes) -> Any: ...

    def tell(self, example: Batch, plan: Any, row: int) -> dict[str, Any]: ...


@runtime_checkable
class Rounding(Planned, Protocol):
    """A stage that turns a share into a whole number, and says where that came out as something else."""

    def rounding(self, example: Batch) -> str: ...


def planned(stage: object) -> TypeGuard[Planned]:
    """Whether a stage leaves something to chance; asking the protocol itself takes longer than most stages."""
    return hasattr(stage, "plan")


def verb(stage: object) -> str:
    """The verb of a stage: the folder of the objectives' room in which it is written."""
    return type(stage).__module__.split(".")[2]
