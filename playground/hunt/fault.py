"""A fault of a public repository as a switch: what it changes, what is seen of it, and the law that it breaks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from playground.catalog import choose, find
from playground.corpora import Corpus
from playground.objectives.stage import Stage
from playground.training.train_state import TrainState
from playground.zoo import Entry

if TYPE_CHECKING:
    from playground.hunt.suspect import Suspect

S = TypeVar("S", bound=Stage)
T = TypeVar("T")

FAULTS = "playground.hunt.catalog"

GROUPS = ("Objective", "Attention mask", "Data", "Loss", "Training loop", "Evaluation")
"""Where in a program a fault is."""


def unchanged(part: T) -> T:
    """The entry, the corpus or the learner as it is."""
    return part


def exchange_stage(entry: Entry, kind: type[S], make: Callable[[S], Stage]) -> Entry:
    """The entry with another stage in the place of each one of a kind in its objective."""
    stages = tuple(make(stage) if isinstance(stage, kind) else stage for stage in entry.objective.stages)
    return replace(entry, objective=replace(entry.objective, stages=stages))


@dataclass(frozen=True)
class Fault:
    """One fault.

    `name` is the answer that a learner gives. `symptom` says what is seen, and not why; `explanation` says why, and
    what is right. It was found in public: `repository` and the address of the `thread`. `entry` with its `settings`
    trains for so many `steps` on a `corpus`, sound and with the fault. What the fault changes is one of three
    functions, before the first step. `figure` of the two runs shows the effect, in the unit of `shows`. The `law` holds
    without the fault and not with it, as `holds` checks.
    """

    name: str
    group: str
    symptom: str
    explanation: str
    repository: str
    thread: str
    law: str
    shows: str
    figure: Callable[["Suspect"], float]
    holds: Callable[["Suspect"], bool]
    change_entry: Callable[[Entry], Entry] = unchanged
    change_corpus: Callable[[Corpus], Corpus] = unchanged
    change_learner: Callable[[TrainState], TrainState] = unchanged
    entry: str = "MLM"
    settings: str = "batch_size=16"
    corpus: str = "reviews"
    steps: int = 150

    @property
    def idea(self) -> str:
        return self.symptom


def faults() -> dict[str, Fault]:
    """All faults by name."""
    return find(FAULTS, Fault)


def fault_named(name: str) -> Fault:
    """A fault by its name; else a refusal that names the nearest."""
    return choose(FAULTS, Fault, name)
