"""With multilingual pre-training a classifier trained in one language serves the others unchanged."""

from playground.claims import Arm, Claim, Lab, higher


def lost(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy in the second language less that in the first, in which the tagger was trained."""
    measured = lab.tuned(arm, seed).measured
    return measured["accuracy"] - measured["accuracy in the first language"]


K168 = Claim(
    title="One classifier for all languages",
    source="Liu et al., sec. 4",
    prediction="A tagger trained in the first language is at most 0.1 less accurate in the second.",
    otherwise="It loses more than 0.1 in the second language.",
    common=Arm(entry="multilingual MLM", corpus="bilingual", steps=600, task="part of speech abroad"),
    arms={"second language": {"figure": "accuracy"}},
    rules=(higher("second language", 0.0, by=-0.1),),
    compute=lost,
    unit="accuracy, second language less the first",
    scale="A tenth of the words is shared, the second language puts its verbs last, and 600 steps are few for its "
    "words to meet those of the first.",
)
