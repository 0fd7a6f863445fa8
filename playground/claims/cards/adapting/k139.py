"""Language modelling as an auxiliary loss speeds up fine-tuning and improves generalisation."""

from dataclasses import replace
from statistics import fmean

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import course

DURING, END = "mean over the run", "at the end"


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy with the auxiliary loss minus that without it."""
    with_loss, without = (
        course(lab, replace(arm, strategy=name), seed, looks=20) for name in ("auxiliary LM loss", "full")
    )
    return fmean(with_loss) - fmean(without) if arm.figure == DURING else with_loss[-1] - without[-1]


K139 = Claim(
    title="The auxiliary language-modelling loss",
    source="Weng, GPT; Radford et al. 2018, sec. 3.2 and 5",
    prediction="With the auxiliary loss the accuracy is higher on the way and at the end.",
    otherwise="The accuracy is the same at one of the two, or lower.",
    common=Arm(entry="GPT", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={DURING: {"figure": DURING}, END: {"figure": END}},
    rules=(higher(DURING, 0.0), higher(END, 0.0)),
    compute=gain,
    unit="gain in accuracy",
    seeds=10,
    published="GPT averages 74.7 with it and 75.0 without; large tasks gain, small ones do not.",
    scale="256 labelled sentences; the accuracy on 128 unseen ones is measured 20 times in the run.",
)
