"""Objectives: chains of pure, batched stages in six verbs - arrange, choose, change, propose, see, ask."""

from playground.objectives.find import find_objective, objectives
from playground.objectives.formula import Term
from playground.objectives.objective import GROUPS, Objective, Step

__all__ = ["GROUPS", "Objective", "Step", "Term", "find_objective", "objectives"]
