"""Objectives by name: those of the catalogue, and a weighted sum of several."""

import re

from playground.catalog import choose, find
from playground.errors import UserError
from playground.objectives.mixture import in_turn, summed
from playground.objectives.objective import Objective


def objectives() -> dict[str, Objective]:
    """Every objective of the catalogue by name, the rows of the survey's Table 2 first."""
    return find("playground.objectives.catalog", Objective)


def find_objective(name: str) -> Objective:
    """One objective by its name, its alias or its row in the survey.

    Names with weights and plus signs between them are a sum, as in "MLM + 0.5*SOP", and names with shares of the steps
    are trained one after another, as in "LM 70 % then MLM 30 %", unless one has the whole name.
    """
    try:
        return _named(name)
    except UserError:
        if re.search(r"%\s+then\b", name):
            return in_turn(name, find_objective)
        if "+" not in name:
            raise
    return summed(name, _named)


def _named(name: str) -> Objective:
    return choose("playground.objectives.catalog", Objective, name)
