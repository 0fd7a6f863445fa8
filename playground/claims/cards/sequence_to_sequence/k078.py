"""BART is as good as RoBERTa at understanding, and better at generation."""

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.claims.figures.tuning import accuracy, over_tasks

SUMMARY = {"corpus": "summaries", "settings": "decoder_layers=2", "steps": 200, "task": "summary"}


def lead(lab: Lab, arm: Arm, seed: int) -> float:
    """How much more accurate BART is than MLM, at three tasks of understanding or at summaries."""
    if arm.figure == "generation":
        one, other = (accuracy(lab, arm, seed, entry=entry, **SUMMARY) for entry in ("BART mixture", "MLM"))
    else:
        one, other = (over_tasks(lab, Arm(entry, corpus="world", one_model=True), seed) for entry in (arm.entry, "MLM"))
    return one - other


K078 = Claim(
    title="BART understands and writes",
    source="Liu et al., sec. 2.3; Lewis et al., arXiv:1910.13461, sec. 5",
    prediction="BART and MLM differ by at most 0.03 in the mean accuracy of three tasks, and BART gets more words of "
    "summaries right than MLM with a new decoder.",
    otherwise="They differ by more in understanding, or BART writes no better.",
    common=Arm("BART mixture", corpus="world", one_model=True),
    arms={name: {"figure": name} for name in ("understanding", "generation")},
    compute=lead,
    rules=(alike("understanding", 0.0, within=0.03), higher("generation", 0.0)),
    seeds=4,
    unit="accuracy, or share of the words",
    scale="At equal steps of the objectives, not of the systems; BART predicts every word and MLM 15 %. One model of "
    "each kind for all seeds, which draw other texts and heads.",
)
