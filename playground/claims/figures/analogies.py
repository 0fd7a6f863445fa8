"""How many analogies the word vectors of a model solve."""

from statistics import fmean

from playground.claims import Arm, Lab


def solved(lab: Lab, arm: "Arm", seed: int) -> float:
    """The mean over relations of the share of analogies that are solved."""
    return fmean(number.value for number in lab.finding(arm, seed).numbers)
