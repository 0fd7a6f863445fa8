"""Objectives by name: those of the catalogue, and a weighted sum of several."""

from playground.catalog import choose, find
from playground.errors import UserError
from playground.objectives.mixture import summed
from playground.objectives.objective import Objective


def objectives() -> dict[str, Objective]:
    """Every objective of the catalogue by name, the rows of the survey's Table 2 first."""
    return find("playground.objectives.catalog", Objective)


def find_objective(name: str) -> Objective:
    """One objective by its name, its alias or its row in the survey.

    Names with weights and plus signs between them are a sum, as in "MLM + 0.5*SOP", unless one has the whole name.
    """
    try:
        return _named(name)
    except UserError:
        if "+" not in name:
            raise
    return summed(name, _named)


def _named(name: str) -> Objective:
    return choose("playground.objectives.catalog", Objective, name)
