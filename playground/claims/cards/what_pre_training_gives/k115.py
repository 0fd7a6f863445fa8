"""Cross-view training improves a model with unlabelled texts, of which views see a part."""

from playground.claims import Arm, Claim, higher

K115 = Claim(
    title="Views of unlabelled texts",
    source="Weng, CVT; Clark et al., arXiv:1809.08370",
    prediction="With 64 labelled texts, cross-view training is more accurate at sentiment than training on the labels "
    "alone, both from random weights.",
    otherwise="It is as accurate or less.",
    common=Arm("MLM", corpus="world", steps=0, task="sentiment", tuning_steps=160, figure="accuracy"),
    arms={"cross-view": {"strategy": "cross-view training"}, "labels alone": {"strategy": "full"}},
    rules=(higher("cross-view", "labels alone"),),
    unit="accuracy",
    seeds=8,
    scale="512 unlabelled texts; every second step is on them, so cross-view training sees the labels half as often. "
    "The agreement of the views over time is not measured.",
)
