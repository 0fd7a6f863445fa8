"""A phase of a run: a stretch of its steps with an objective and a text of its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import nn

from playground.batch import Batch
from playground.models import Architecture, LanguageModel
from playground.objectives import Objective


@dataclass(frozen=True)
class Phase:
    """A stretch of a run; it begins with the weights of the one before, a new schedule and new optimisers.

    `share` is its part of the steps. `objective` and `corpus` are the entry's own where none is given; a text must have
    the entry's vocabulary.
    """

    name: str = ""
    share: float = 1.0
    idea: str = ""
    objective: Objective | None = None
    corpus: str = ""

    def check(self, shape: Architecture, objective: Objective) -> None:
        """Refuse a model or an objective that cannot be trained so."""

    def trained_part(self, batch: Batch) -> Batch:
        """The part of a batch that trains."""
        return batch

    def frozen(self, model: LanguageModel) -> Iterable[nn.Parameter]:
        """The parameters that keep their values although the loss depends on them."""
        return ()

    def begin(self, model: LanguageModel) -> None:
        """Change the weights that the phase before has left."""
