"""Earlier layers have information on phrases, deeper layers on dependencies over a long distance."""

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.levels import gravity

PHRASES, FAR = "phrase boundaries", "dependency relation"
APART = 3
"""Positions between the two words of a long-distance dependency."""


def level(lab: Lab, arm: Arm, seed: int) -> float:
    """The centre of gravity of phrase boundaries, or of the relation of words that are far apart."""
    return gravity(lab, arm, seed, arm.figure, APART if arm.figure == FAR else 0)


K200 = Claim(
    title="Phrases early, long distances late",
    source="Liu et al., sec. 7; Jawahar et al. 2019",
    prediction="A probe that mixes all levels reads phrase boundaries at lower levels than dependencies between words "
    "that are three positions or more apart.",
    otherwise="Both are read at the same level, or long dependencies lower.",
    common=Arm("MLM", settings="layers=4", corpus="world"),
    arms={"phrases": {"figure": PHRASES}, "long dependencies": {"figure": FAR}},
    rules=(lower("phrases", "long dependencies"),),
    compute=level,
    unit="levels (0 is the embeddings)",
    scale="Four layers, and sentences of six words on average, in which three positions are far. The probe of phrases "
    "reads one word, the probe of dependencies two.",
)
