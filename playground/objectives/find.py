"""Objectives by name: those of the catalogue, a weighted sum of several, a mask that was edited by hand."""

from playground.catalog import choose, find
from playground.errors import UserError
from playground.objectives.mixture import summed
from playground.objectives.objective import BY_HAND, Objective


def objectives() -> dict[str, Objective]:
    """Every objective of the catalogue by name, the rows of the survey's Table 2 first."""
    return find("playground.objectives.catalog", Objective)


def find_objective(name: str) -> Objective:
    """One objective by its name, its alias or its row in the survey, as in "LM" or "LM painted encoder opens +1".

    Names with weights and plus signs between them are a sum, as in "MLM + 0.5*SOP".
    """
    name, by_hand, cells = name.partition(BY_HAND)
    found = _found(name)
    return found.painted(cells) if by_hand else found


def _found(name: str) -> Objective:
    """What has this name itself, else the sum that it says."""
    try:
        return _named(name)
    except UserError:
        if "+" not in name:
            raise
    return summed(name, _named)


def _named(name: str) -> Objective:
    return choose("playground.objectives.catalog", Objective, name)
