"""The events of training as frozen values; the command line, notebooks and sessions read the same stream."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from playground.batch import Batch, Tokens
from playground.training.grad_stats import Group
from playground.training.train_state import TrainState


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

    `tokens`, `graded` (scored answers) and `seconds` are counted from the start of the run; `rate` is the factor of the
    learning rate; `sizes` are measured every `Run.sizes_every` steps.
    """

    step: int
    loss: Tensor
    terms: dict[str, Tensor]
    rate: float
    tokens: int
    seconds: float
    example: Batch
    graded: int = 0
    sizes: tuple[Group, ...] = ()


@dataclass(frozen=True)
class Evaluated:
    """The mean held-out loss of the first question in nats per scored position, and the accuracy by question."""

    step: int
    held_out: float
    terms: dict[str, float]
    accuracy: dict[str, float] = field(default_factory=dict)


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


Event = Started | PhaseStarted | Stepped | Evaluated | Checkpointed | Incident | Stopped
