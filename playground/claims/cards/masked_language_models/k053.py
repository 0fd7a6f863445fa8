"""The choice of hyperparameters has a large impact on a pre-trained model."""

from statistics import stdev

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

CHOICES = {
    "hyperparameters": [
        {"settings": text} for text in ("", "lr=0.0015, muon_lr=0.005", "batch_size=8", "mask_ratio=0.4")
    ],
    "objectives": [{"entry": name} for name in ("MLM", "LM", "PLM", "RTD")],
}


def spread(lab: Lab, arm: Arm, seed: int) -> float:
    """The standard deviation of the accuracies of four models."""
    return stdev(accuracy(lab, arm, seed, **choice) for choice in CHOICES[arm.figure])


K053 = Claim(
    title="Hyperparameters have a big impact",
    source="Weng, RoBERTa; Liu et al., arXiv:1907.11692, sec. 3.1",
    prediction="Four settings of MLM, with other rates, batches and shares of masks, spread more in accuracy than four "
    "objectives with the same settings.",
    otherwise="The objectives spread as much.",
    common=Arm("MLM", corpus="reviews", one_model=True, task="sentiment"),
    arms={name: {"figure": name} for name in CHOICES},
    compute=spread,
    rules=(higher("hyperparameters", "objectives"),),
    unit="standard deviation of accuracy",
    seeds=4,
    scale="One factor is changed at a time: rates and batches of a quarter, and 40 % masks; another grid would have "
    "another spread. One model of each kind for all seeds, which draw other texts and heads.",
)
