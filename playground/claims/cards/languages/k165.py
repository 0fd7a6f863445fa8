"""Transfer between languages works without a shared vocabulary; the overlap of words hardly matters."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.claims.figures.tuning import accuracy

GAIN, OVERLAP = "gain without shared words", "half shared minus none shared"
NONE, HALF = "bilingual(shared=0)", "bilingual(shared=0.5)"


def figure(lab: Lab, arm: Arm, seed: int) -> float:
    """The gain over a random start without shared words, or what shared words add."""
    none = accuracy(lab, replace(arm, figure=""), seed, corpus=NONE)
    if arm.figure == GAIN:
        return none - accuracy(lab, replace(arm, figure=""), seed, corpus=NONE, strategy="random start")
    return accuracy(lab, replace(arm, figure=""), seed, corpus=HALF) - none


K165 = Claim(
    title="Transfer without shared words",
    source="Liu et al., sec. 4, Wu et al. 2019; Qiu et al., sec. 4.2.1, K et al., arXiv:1912.07840",
    prediction="Without shared words the tagger beats a random start, and half of the words shared changes little.",
    otherwise="Without shared words there is no transfer, or shared words add much.",
    common=Arm(entry="multilingual MLM", steps=400, task="part of speech abroad"),
    arms={GAIN: {"figure": GAIN}, OVERLAP: {"figure": OVERLAP}},
    rules=(higher(GAIN, 0.0), alike(OVERLAP, 0.0, within=0.05)),
    compute=figure,
    unit="accuracy in the second language",
    scale="Both languages have one grammar, but the second has its verbs last. The tagger reads shared words in both, "
    "so overlap helps it even without pre-training.",
)
