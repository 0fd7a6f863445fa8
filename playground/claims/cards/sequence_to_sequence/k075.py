"""The objective is not the only factor; the architecture, such as relative positions, matters too."""

from statistics import fmean, stdev

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

OBJECTIVES, POSITIONS = ("MLM", "LM"), ("learned", "relative", "rotary")


def effect(lab: Lab, arm: Arm, seed: int) -> float:
    """The standard deviation of the mean accuracies of one factor, over all levels of the other."""
    found = {
        (entry, positions): accuracy(lab, arm, seed, entry=entry, settings=f"positions={positions}")
        for entry in OBJECTIVES for positions in POSITIONS
    }  # fmt: skip
    levels = OBJECTIVES if arm.figure == "objective" else POSITIONS
    return stdev(fmean(value for factors, value in found.items() if level in factors) for level in levels)


K075 = Claim(
    title="Not the objective alone",
    source="Weng, BART; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="Three kinds of positions spread the accuracy at least as much as two objectives, to 0.01.",
    otherwise="The objectives spread it more.",
    common=Arm("MLM", corpus="reviews", one_model=True, task="sentiment"),
    arms={name: {"figure": name} for name in ("architecture", "objective")},
    compute=effect,
    rules=(higher("architecture", "objective", by=-0.01),),
    unit="standard deviation of accuracy",
    seeds=4,
    scale="MLM and LM with learned, relative and rotary positions. Recurrence over segments is left out: MLM reads no "
    "rows that continue each other. One model of each kind for all seeds.",
)
