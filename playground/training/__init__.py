"""Training: a stream of frozen events that carry the very batch that trained."""

from playground.training.events import Checkpointed, Evaluated, Event, Incident, PhaseStarted, Started, Stepped, Stopped
from playground.training.loop import Run, train
from playground.training.session import Session

__all__ = [
    "Checkpointed",
    "Evaluated",
    "Event",
    "Incident",
    "PhaseStarted",
    "Run",
    "Session",
    "Started",
    "Stepped",
    "Stopped",
    "train",
]
