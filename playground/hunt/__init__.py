"""The bug hunt: real faults of public repositories as switches, to be named from their symptoms."""

from playground.hunt.fault import Fault, fault_named, faults
from playground.hunt.grading import cases, grade
from playground.hunt.questions import QUESTIONS
from playground.hunt.suspect import Suspect, train_suspect

__all__ = ["QUESTIONS", "Fault", "Suspect", "cases", "fault_named", "faults", "grade", "train_suspect"]
