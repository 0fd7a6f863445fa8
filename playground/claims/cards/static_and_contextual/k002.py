"""The vectors of a contextual model tell the senses of a word apart; static vectors cannot."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.senses import accuracy_with_cue


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of words whose meaning is that of the nearest mean vector; the cue stands on both sides."""
    return accuracy_with_cue(lab.subject(arm, seed), "both", seed)


K002 = Claim(
    title="Contextual vectors have several senses",
    source="Liu et al., sec. 2 and 7; Qiu et al., sec. 3.3.2",
    prediction="The nearest mean vector of a sense is the right one far more often in MLM than in skip-gram, which "
    "guesses.",
    otherwise="MLM is no better than a guess between the two senses.",
    common=Arm(corpus="senses", figure="right senses"),
    arms={"MLM": {"entry": "MLM"}, "skip-gram NS": {"entry": "skip-gram NS"}},
    rules=(higher("MLM", "skip-gram NS", by=0.25),),
    compute=accuracy,
    unit="of the words",
    scale="Sixteen words with two senses each and clear cues; real senses are many, rare and not as clear. A guess is "
    "right in 0.5.",
    also=("kind",),
)
