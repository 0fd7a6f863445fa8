"""What happens in training, as frozen values; a bar, a notebook cell and a session read the same stream."""

from dataclasses import dataclass

from torch import Tensor

from playground.example import Example, Tokens
from playground.training.learner import Learner


@dataclass(frozen=True)
class Started:
    """The learner is ready, at step 0 or where a checkpoint left it; it will be evaluated on `held_out`."""

    learner: Learner
    unigram_entropy: float
    held_out: Tokens


@dataclass(frozen=True)
class Stepped:
    """One optimiser step is done. `loss` and `terms` stay tensors so that nobody waits for a GPU who need not.

    `step` counts finished steps, `tokens` all real input tokens read so far, `graded` all graded answers so far in
    nats-bearing positions, `seconds` the training time so far, `rate` the share of the learning rate that was used.
    """

    step: int
    loss: Tensor
    terms: dict[str, Tensor]
    rate: float
    tokens: int
    seconds: float
    example: Example


@dataclass(frozen=True)
class Evaluated:
    """The loss on held-out text in nats per graded position: the mean of the first question, always the same batch."""

    step: int
    held_out: float
    terms: dict[str, float]


@dataclass(frozen=True)
class Checkpointed:
    """Everything needed to go on bit for bit is on disk."""

    step: int
    path: str


@dataclass(frozen=True)
class Stopped:
    """The run is over: `reason` is one of "steps", "seconds", "asked", "diverged"."""

    step: int
    reason: str
    seconds: float


Event = Started | Stepped | Evaluated | Checkpointed | Stopped
