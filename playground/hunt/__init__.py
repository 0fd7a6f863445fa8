"""The bug hunt: real faults of public repositories as switches, to be named from their symptoms."""

from playground.hunt.fault import Fault, fault_named, faults
from playground.hunt.suspect import Suspect, train_suspect

__all__ = ["Fault", "Suspect", "fault_named", "faults", "train_suspect"]
