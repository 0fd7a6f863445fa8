"""Without next sentence prediction BERT is as good or better on question answering and inference."""

from statistics import fmean

from playground.claims import Arm, Claim, Lab, Rule
from playground.claims.figures.tuning import accuracy

PAIRS = ("question answering", "entailment")


def on_pairs(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean accuracy on the tasks about pairs of texts."""
    return fmean(accuracy(lab, arm, seed, task=task) for task in PAIRS)


K089 = Claim(
    title="Is NSP needed?",
    source="Qiu et al., sec. 3.1.5 and 5.2.1; Weng, BERT; Liu et al., sec. 3.1",
    prediction="Without the loss of NSP the mean accuracy on question answering and entailment is at most 0.02 lower.",
    otherwise="It is more than 0.02 lower without NSP.",
    common=Arm(
        "MLM + NSP", corpus="world", steps=1000, one_model=True, task="entailment", train_size=256, tuning_steps=120
    ),
    arms={"without NSP": {"settings": "weight=0"}, "with NSP": {"settings": "weight=1"}},
    rules=(Rule("without NSP", "with NSP", -0.02, 1.0),),
    compute=on_pairs,
    unit="accuracy",
    scale="Both models read the same pairs of texts; only the loss of the label is left out. One model of each kind "
    "for all seeds, which draw other texts and heads.",
)
