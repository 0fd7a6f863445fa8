"""A contextual vector depends on all words of its sequence, a static one on its own word alone."""

from typing import Any

from playground.claims import Arm, Claim, Lab, equal


def reached(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of pairs of two different words where the vector of one has an influence on the state of the other."""
    influence: Any = lab.finding(arm, seed).tables[0].columns["influence"]
    size = round(len(influence) ** 0.5)
    others = [value for k, value in enumerate(influence) if k // size != k % size]
    return sum(value > 0 for value in others) / len(others)


K003 = Claim(
    title="A state depends on the entire sequence",
    source="Liu et al., sec. 2; Qiu et al., sec. 2.1",
    prediction="The gradient of each state by each other word is not 0 in MLM and PLM; it is 0 in skip-gram. LM, which "
    "reads from the left, has half of the pairs.",
    otherwise="Some states of MLM or PLM do not depend on some words.",
    common=Arm(instrument="sensitivity(sentence=anna flew to new york in the morning .)", figure="pairs reached"),
    arms={
        "MLM": {"entry": "MLM"}, "PLM": {"entry": "PLM"}, "LM": {"entry": "LM"},
        "skip-gram NS": {"entry": "skip-gram NS"},
    },
    rules=(equal("MLM", 1.0), equal("PLM", 1.0), equal("LM", 0.5), equal("skip-gram NS", 0.0)),
    compute=reached,
    unit="of the pairs of words",
    scale="The attention masks decide this, not training or size. Not 0 may still be too small to matter.",
    seeds=2,
    also=("attention", "kind"),
)  # fmt: skip
