"""Pre-training gains most on tasks with few labels, and reaches the same accuracy with far fewer of them."""

from playground.claims import Arm, Claim, Lab, Rule, higher
from playground.claims.figures.tuning import accuracy

GAIN_FEW, GAIN_MANY, FEWER = "gain at 32 labels", "gain at 1,024 labels", "32 labels minus 128 from scratch"
SIZES = {GAIN_FEW: (32, 32), GAIN_MANY: (1024, 1024), FEWER: (32, 128)}
"""Labels of the pre-trained model and of the random one."""


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of the pre-trained model minus that of the random one."""
    own, other = SIZES[arm.figure]
    random = accuracy(lab, arm, seed, train_size=other, strategy="random start")
    return accuracy(lab, arm, seed, train_size=own) - random


K107 = Claim(
    title="Labels saved by pre-training",
    source="Weng, ELMo; Peters et al., arXiv:1802.05365, sec. 5.4",
    prediction="The gain at 32 labels is larger than at 1,024, and 32 labels do as well as 128 from scratch.",
    otherwise="The gain does not depend on the number of labels, or 128 labels from scratch do better.",
    common=Arm(entry="MLM", corpus="reviews", steps=400, task="sentiment", tuning_steps=160),
    arms={name: {"figure": name} for name in SIZES},
    rules=(higher(GAIN_FEW, GAIN_MANY), Rule(FEWER, 0.0, -0.02, 1.0)),
    compute=gain,
    unit="accuracy",
    published="ELMo with 1 % of the SRL training set does as well as the baseline with 10 %.",
    seeds=8,
    scale="The task has about fifty words of opinion; a thousand labels name all of them, so scratch catches up there.",
)
