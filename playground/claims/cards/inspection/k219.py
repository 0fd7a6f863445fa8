"""Objectives that are made for a task help at this task: label-aware MLM at sentiment, gap sentences at summaries."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

MADE = {
    "sentiment": ("label-aware MLM", "MLM", {"corpus": "reviews", "task": "sentiment"}),
    "summary": (
        "gap sentences objective", "BART infilling objective",
        {"corpus": "summaries", "task": "summary", "settings": "decoder_layers=2"},
    ),
}  # fmt: skip
"""For each task the objective that is made for it, a general one, and on what they are compared."""


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """How much more accurate at its task the objective is that is made for it."""
    special, general, task = MADE[arm.figure]
    one, other = (accuracy(lab, arm, seed, entry=entry, **task) for entry in (special, general))
    return one - other


K219 = Claim(
    title="Objectives made for a task",
    source="Qiu et al., sec. 3.2; Ke et al., arXiv:1911.02493; Zhang et al., arXiv:1912.08777",
    prediction="Each is more accurate at its task than a general objective, MLM or BART's infilling.",
    otherwise="One of the two does not help.",
    common=Arm(steps=200, one_model=True),
    arms={name: {"figure": name} for name in MADE},
    compute=gain,
    rules=(higher("sentiment", 0.0), higher("summary", 0.0)),
    seeds=4,
    unit="accuracy, or share of the words",
    scale="The detection of noisy words is left out. Label-aware MLM reads the polarity that the grammar gives a word. "
    "Rows of 32 tokens hold about half a story of 57. One model of each kind for all seeds.",
)
