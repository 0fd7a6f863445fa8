"""Objectives: chains of pure, batched stages in six verbs - arrange, choose, change, propose, see, ask."""

from playground.objectives.objective import GROUPS, Objective, Step, find_objective, objectives

__all__ = ["GROUPS", "Objective", "Step", "find_objective", "objectives"]
