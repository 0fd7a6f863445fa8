"""What happens in training, as frozen values; a bar, a notebook cell and a session read the same stream."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from playground.batch import Batch, Tokens
from playground.training.grad_stats import Group
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class Started:
    """The learner is ready, at step 0 or where a checkpoint left it; it will be evaluated on `held_out`."""

    learner: TrainState
    unigram_entropy: float
    held_out: Tokens


@dataclass(frozen=True)
class Stepped:
    """One optimiser step is done. `loss` and `terms` stay tensors so that nobody waits for a GPU who need not.

    `step` counts finished steps, `tokens` all real input tokens read so far, `graded` all answers graded so far,
    `seconds` the training time so far, `rate` the share of the learning rate that was used. `sizes` are there in
    the steps that a run measures (`Run.sizes_every`).
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
    """The loss on held-out text in nats per scored position: the mean of the first question, always the same batch.

    `accuracy` is the share of right answers by question, where an answer is right or wrong.
    """

    step: int
    held_out: float
    terms: dict[str, float]
    accuracy: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpointed:
    """Everything needed to go on bit for bit is on disk."""

    step: int
    path: str


@dataclass(frozen=True)
class Incident:
    """Something went wrong, and the learner stands at `step`, where all was well.

    `kind` is "numbers" (a loss or a weight was no number; the run ends here), "memory" (a step did not fit; the run
    goes on) or "compiler" (the run goes on uncompiled). `settings` are the knobs that would help, or did, ready for a
    fork.
    """

    step: int
    kind: str
    sentence: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Stopped:
    """The run is over: `reason` is one of "steps", "seconds", "asked", "diverged".

    `step` is where that was noticed; after "diverged" the learner itself is back where all was well (`Trouble`).
    """

    step: int
    reason: str
    seconds: float


Event = Started | Stepped | Evaluated | Checkpointed | Incident | Stopped
