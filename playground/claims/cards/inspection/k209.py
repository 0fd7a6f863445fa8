"""BERT is good at simple syntactic tasks, and less good at semantic and fine-grained syntactic ones."""

from dataclasses import replace
from statistics import fmean

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.comparison import above_majority

TASKS = {
    "simple syntax": ("part of speech", "phrase boundaries"),
    "semantics": ("supersense", "entity type", "sense"),
    "fine-grained syntax": ("conjuncts", "BShift"),
}
"""Probing tasks by kind; BShift, two exchanged words, stands for finding errors of grammar."""


def mean_gain(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean over the tasks of a kind."""
    asked = [replace(arm, instrument=f"probing classifier(task={task})") for task in TASKS[arm.figure]]
    return fmean(above_majority(lab, each, seed) for each in asked)


K209 = Claim(
    title="Simple syntax is easiest",
    source="Qiu et al., sec. 3.3.1; Liu et al. 2019, arXiv:1903.08855; Tenney et al., arXiv:1905.06316",
    prediction="Linear probes gain more over the most frequent class on simple syntax than on each of the other two.",
    otherwise="One of the two is read as well as simple syntax.",
    common=Arm("MLM", corpus="world"),
    arms={kind: {"figure": kind} for kind in TASKS},
    rules=(lower("semantics", "simple syntax"), lower("fine-grained syntax", "simple syntax")),
    compute=mean_gain,
    unit="of what the most frequent class leaves",
    scale="Two or three tasks of each kind. In our grammar the word alone often decides its part of speech and its "
    "supersense; in real text both are harder.",
)
