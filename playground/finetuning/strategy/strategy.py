"""A strategy says what may change, when, and how fast, what holds the weights back, and what is added or read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from playground.errors import Refusal
from playground.finetuning.data.prompting import Prompt
from playground.finetuning.strategy.head import TOP, Head
from playground.finetuning.strategy.losses import AuxLoss
from playground.finetuning.strategy.multitask import MultiTask
from playground.finetuning.strategy.schedules import Cell, Plasticity, named_rows, paint
from playground.models.adapters import AdapterKind

if TYPE_CHECKING:  # which knows tasks, and they know nothing of strategies
    from playground.finetuning.strategy.extra_features import ExtraFeatures

OTHER = "other heads"
"""The row of the plan for the heads of other tasks."""

FAMILIES = {
    "control": "nothing is taken over: what every benefit is held against",
    "features": "the model stays as it is, and a head reads it",
    "full": "everything may change from the first step",
    "parts taken over": "some of the pre-trained model, the rest new or frozen",
    "added parts": "little is added or moved, the model stays frozen",
    "unfreezing": "layers learn one after another, or only the upper ones",
    "rates": "how fast each layer learns, and when",
    "penalties and replay": "something holds on to what was learnt before",
    "further training": "another step comes between pre-training and the task",
    "several tasks": "other tasks are learnt too",
    "own teacher": "the mean of the model's own weights teaches or answers",
    "more texts": "unlabelled, changed or enriched texts are read too",
    "prompting": "the model is only asked, nothing is trained",
}
"""The families of strategies, in the order in which a survey comes to them, each with what its members share."""


@dataclass(frozen=True)
class Published:
    """A learning rate that was used for a large model, and the public place where it stands."""

    rate: float
    where: str


@dataclass(frozen=True)
class Strategy:
    """A plasticity plan, penalties and extra modules; `rate * plan[g, s]` is a learning rate, and 0 is truly frozen.

    `penalties` hold the weights back and are 0 at the start; `beside` are further losses in the same steps; `extras`
    are new modules, which learn as the head does; `given` is what model or head get beside the words. `head` says what
    the task's head reads, `fresh` which part of the model starts anew, `apart` which parameters of a group form a row
    of their own in the plan, `averaged` over which last share of the steps the final weights are the mean, `painted`
    are cells of the plan edited by hand, and `made_of` names the strategies that were put together. `rate` is ours: it
    suits these tiny models and short runs. `published` is what the authors used for a large one, None where no place
    that we could read states it. With a `prompt` nothing learns: the model is only asked.
    """

    name: str
    idea: str
    source: str
    plasticity: Plasticity
    rate: float = 4e-3
    published: Published | None = None
    aliases: tuple[str, ...] = ()
    rank: int = 0
    family: str = ""
    penalties: tuple[AuxLoss, ...] = ()
    beside: tuple[AuxLoss, ...] = ()
    extras: tuple[AdapterKind, ...] = ()
    given: "tuple[ExtraFeatures, ...]" = ()
    head: Head = TOP
    fresh: Literal["", "encoder", "decoder", "layers", "everything"] = ""
    apart: Literal["", "biases"] = ""
    averaged: float = 0.0
    painted: tuple[Cell, ...] = ()
    made_of: tuple[str, ...] = ()
    prompt: Prompt | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The strategies of the catalogue that it is made of, itself if it is one of them."""
        return self.made_of or (self.name,)

    @property
    def rehearses(self) -> bool:
        """Whether it reads pre-training text."""
        return any(term.rehearses for term in (*self.penalties, *self.beside, *self.given))

    @property
    def others(self) -> MultiTask | None:
        """The other tasks that are learnt too."""
        return next((term for term in self.beside if isinstance(term, MultiTask)), None)

    @property
    def new(self) -> tuple[str, ...]:
        """The rows of its plan for what is added to the model, without the task's head."""
        return (*(extra.name for extra in self.extras), *([OTHER] if self.others else []))

    def plan(self, groups: Sequence[str], steps: int) -> Tensor:
        """The multipliers `[g, s]`, evaluated once; the optimiser reads its columns and the heat map draws them."""
        old = [k for k, group in enumerate(groups) if group not in self.new]
        plan = self.plasticity([groups[k] for k in old], steps)
        assert plan.shape == (len(old), steps), f"{self.name} plans {tuple(plan.shape)}"
        whole = plan[-1].repeat(len(groups), 1)
        whole[old] = plan
        if self.others and OTHER in groups:  # they learn whenever they are read and anything learns
            read = torch.arange(steps) < self.others.reading(steps)
            whole[list(groups).index(OTHER)] = plan.amax(dim=0) * read
        return paint(whole, groups, self.painted)

    def rows(self, layers: int) -> tuple[str, ...]:
        """The layer groups of its plan for a transformer with so many layers, lowest first."""
        return named_rows(layers, self.new, self.apart == "biases")

    def paint(self, *cells: Cell) -> "Strategy":
        """The same strategy with some cells of its plan painted over."""
        if self.prompt:
            raise Refusal(f"{self.name} trains nothing, so there is no plan to paint.")
        name = self.name if self.painted else f"{self.name} (painted)"
        return replace(self, name=name, painted=(*self.painted, *cells), made_of=self.parts)
