"""With plenty of labelled data pre-training may be unnecessary."""

from playground.claims import Arm, Claim, alike, higher
from playground.claims.figures.benefit import benefit

K108 = Claim(
    title="Plenty of labels",
    source="Weng, introduction, on image segmentation",
    prediction="Pre-training adds more than 0.02 of accuracy with 64 labelled texts and at most 0.01 with 4,096.",
    otherwise="With 4,096 labels pre-training still adds more than 0.01.",
    common=Arm("MLM", corpus="reviews", steps=400, task="sentiment", tuning_steps=320),
    arms={"64 labels": {"train_size": 64}, "4,096 labels": {"train_size": 4096}},
    rules=(higher("64 labels", 0.0, by=0.02), alike("4,096 labels", 0.0, within=0.01)),
    compute=benefit,
    unit="gain in accuracy",
    scale="Text and not images. The task has about fifty words of opinion, so 4,096 labels are plenty; 320 steps read "
    "each of these texts about once.",
)
