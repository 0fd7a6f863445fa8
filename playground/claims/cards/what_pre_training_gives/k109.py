"""Early neural models stayed shallow because a deep one needs many labels; a pre-trained one does not."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

FEW, MANY, PRE_TRAINED = "64 labels", "2,048 labels", "64 labels, pre-trained"
HOW = {
    FEW: {"train_size": 64, "strategy": "random start"},
    MANY: {"train_size": 2048, "strategy": "random start"},
    PRE_TRAINED: {"train_size": 64},
}


def gain_of_depth(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy with four layers minus that with one."""
    arm = replace(arm, **HOW[arm.figure])
    return accuracy(lab, arm, seed, settings="layers=4") - accuracy(lab, arm, seed, settings="layers=1")


K109 = Claim(
    title="Shallow because labels were few",
    source="Qiu et al., sec. 1",
    prediction="Four layers gain more over one with 2,048 labels than with 64, and with 64 labels more if both are "
    "pre-trained.",
    otherwise="What depth gains depends neither on the number of labels nor on pre-training.",
    common=Arm("MLM", corpus="reviews", one_model=True, task="sentiment", tuning_steps=160),
    arms={name: {"figure": name} for name in HOW},
    rules=(higher(MANY, FEW), higher(PRE_TRAINED, FEW)),
    compute=gain_of_depth,
    unit="accuracy, four layers minus one",
    scale="Transformers, where the source means networks of one to three layers before them. One pre-trained model of "
    "each depth for all seeds; texts, heads and random starts vary.",
)
