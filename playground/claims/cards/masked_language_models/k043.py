"""A masked language model predicts only 15 % of the tokens of a text; a left-to-right language model and replaced token
detection learn from all of them."""

from playground.claims import Arm, Claim, Lab, alike
from playground.claims.figures.text import held_out


def scored(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of the tokens of a text that the model itself is asked about; a generator's are not counted."""
    batch = held_out(lab, arm, seed)
    return float(batch.targets[0].loss_mask.sum()) / batch.count


K043 = Claim(
    title="A signal from 15 % of the tokens",
    source="Weng, BERT and ELECTRA; Liu et al., sec. 2.3; Clark et al., arXiv:2003.10555, sec. 1",
    prediction="The number of scored tokens is 0.15 of all for MLM, and all of them for LM and RTD.",
    otherwise="The shares differ from these by more than one percent of the tokens.",
    common=Arm(corpus="world", steps=0),
    arms={"MLM": {"entry": "MLM"}, "LM": {"entry": "LM"}, "RTD": {"entry": "RTD"}},
    compute=scored,
    rules=tuple(alike(arm, share, within=0.01, exact=True) for arm, share in (("MLM", 0.15), ("LM", 1), ("RTD", 1))),
    seeds=2,
    unit="of the tokens",
    scale="This counts predictions, so no size of model changes it. It does not say how much one prediction teaches: "
    "whether a replaced word is noticed says less than which word is right.",
    also=("attention",),
)
