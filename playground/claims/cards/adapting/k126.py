"""A masked language model solves the steps of the NLP pipeline in order: part of speech, parsing, names."""

from itertools import pairwise

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.levels import gravity

TASKS = ("part of speech", "dependency relation", "entity type")


def level(lab: Lab, arm: Arm, seed: int) -> float:
    """The centre of gravity of the task of an arm."""
    return gravity(lab, arm, seed, arm.figure)


K126 = Claim(
    title="The layers follow the NLP pipeline",
    source="Liu et al., sec. 7; Qiu et al., sec. 3.3.1 and 5.2.2; Tenney et al., arXiv:1905.05950",
    prediction="The centre of gravity of a probe that mixes all levels rises from part of speech to the dependency "
    "relation, and from there to the type of a name.",
    otherwise="Two of the tasks are at the same level, or in another order.",
    common=Arm("MLM", settings="layers=4", corpus="world"),
    arms={task: {"figure": task} for task in TASKS},
    rules=tuple(lower(first, then) for first, then in pairwise(TASKS)),
    compute=level,
    unit="levels (0 is the embeddings)",
    scale="Four layers instead of 12 or 24. Semantic roles and coreference are left out: the text has no labels for "
    "them. A linear probe of single words or pairs.",
)
