"""What an instrument finds of a model, or what it sets beside it."""

from playground.claims import Arm, Lab


def value_or_baseline(lab: Lab, arm: "Arm", seed: int) -> float:
    """The first number of an instrument where the figure has its name, else the baseline of that name."""
    number = lab.finding(arm, seed).numbers[0]
    return number.value if arm.figure == number.name else number.baselines[arm.figure]


def above_majority(lab: Lab, arm: "Arm", seed: int) -> float:
    """The accuracy of a probe as a share of what the most frequent class leaves: 0 is that class, 1 is all right."""
    number = lab.finding(arm, seed).numbers[0]
    chance = number.baselines["most frequent class"]
    return (number.value - chance) / (1 - chance)
