"""Objectives: chains of pure, batched stages in six verbs - arrange, choose, change, propose, see, ask."""

from playground.objectives.by_hand import with_overrides
from playground.objectives.find import find_objective, objectives
from playground.objectives.formula import Term
from playground.objectives.objective import GROUPS, Objective
from playground.objectives.see.painted import AttentionMaskOverride
from playground.objectives.steps import Step

__all__ = [
    "GROUPS",
    "AttentionMaskOverride",
    "Objective",
    "Step",
    "Term",
    "find_objective",
    "objectives",
    "with_overrides",
]
