"""The events of training as frozen values; the command line, notebooks and sessions read the same stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from playground import devices
from playground.batch import Batch, Tokens
from playground.training.grad_stats import Group
from playground.training.train_state import TrainState

READ_EVERY = 10
"""Steps whose losses are read at once from a GPU, since every reading waits for it."""


@dataclass(frozen=True)
class Started:
    """The learner is ready, at step 0 or that of a checkpoint; it will be evaluated on `held_out`."""

    learner: TrainState
    unigram_entropy: float
    held_out: Tokens


@dataclass(frozen=True)
class PhaseStarted:
    """A phase (numbered from 0) of several begins after `step`, or goes on there; it is evaluated on `held_out`."""

    step: int
    number: int
    name: str
    objective: str
    corpus: str
    held_out: Tokens


@dataclass(frozen=True)
class Stepped:
    """One optimiser step is done. `loss` and `terms` stay tensors, so that the device is not waited for.

    `tokens`, `scored` (scored answers) and `seconds` are counted from the start of the run; `rate` is the factor of the
    learning rate; `sizes` are measured every `Run.sizes_every` steps. `numbers` are the loss and the terms once they
    are read, which a GPU is waited for.
    """

    step: int
    loss: Tensor
    terms: dict[str, Tensor]
    rate: float
    tokens: int
    seconds: float
    batch: Batch
    scored: int = 0
    sizes: tuple[Group, ...] = ()
    numbers: list[float] = field(default_factory=list, repr=False, compare=False)

    @property
    def is_known(self) -> bool:
        """Whether its losses may be read without waiting for a device."""
        return bool(self.numbers) or not devices.computes_beside(self.loss.device)

    def read(self) -> tuple[float, dict[str, float]]:
        """Its loss and its terms as numbers."""
        read_losses([self])
        loss, *terms = self.numbers
        return loss, dict(zip(self.terms, terms, strict=True))


def read_losses(steps: Sequence[Stepped]) -> None:
    """Read the losses of some steps; a GPU is waited for once for all of them."""
    if unread := [step for step in steps if not step.numbers]:
        values = iter(torch.stack([each for s in unread for each in (s.loss, *s.terms.values())]).tolist())
        for step in unread:
            step.numbers.extend(islice(values, 1 + len(step.terms)))


@dataclass(frozen=True)
class Evaluated:
    """The mean held-out loss of the first target in nats per scored position, accuracies by target, gauges by name."""

    step: int
    held_out: float
    terms: dict[str, float]
    accuracy: dict[str, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpointed:
    """A checkpoint from which the run can go on bit for bit is on disk."""

    step: int
    path: str


@dataclass(frozen=True)
class Incident:
    """Something went wrong; the learner is in its good state of `step`. `settings` are knobs that help, for a fork.

    `kind` is "numbers" (a loss or a weight was not finite), which ends the run, or "memory" (a step did not fit).
    """

    step: int
    kind: str
    sentence: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Stopped:
    """The run ended by "steps", "seconds", "asked" or "diverged", after which the learner is in an earlier state."""

    step: int
    reason: str
    seconds: float


@dataclass
class Unread:
    """Steps and evaluations on their way to who reads them, some at once from a GPU, always in their order."""

    waiting: list[Stepped | Evaluated] = field(default_factory=list)

    def after(self, event: object) -> list[Stepped | Evaluated]:
        """What may be read after an event without waiting for a GPU; at an evaluation and at the end, all."""
        if isinstance(event, Stepped | Evaluated):
            self.waiting.append(event)
        known = event.is_known if isinstance(event, Stepped) else isinstance(event, Evaluated | Stopped)
        return self.rest() if known else []

    def rest(self) -> list[Stepped | Evaluated]:
        """All that waits, read now."""
        ready, self.waiting = self.waiting, []
        read_losses([each for each in ready if isinstance(each, Stepped)])
        return ready


Event = Started | PhaseStarted | Stepped | Evaluated | Checkpointed | Incident | Stopped
