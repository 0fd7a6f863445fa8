"""Hiding whole names or phrases adds knowledge to a model, compared with hiding single words."""

from playground.claims import Arm, Claim, higher

K046 = Claim(
    title="Whole names and phrases",
    source="Liu et al., sec. 3.2; Sun et al., arXiv:1904.09223",
    prediction="After equal steps a model that was trained with hidden names recovers more of the facts that its text "
    "states than MLM, and so does one with hidden phrases.",
    otherwise="MLM recovers as many as one of the two.",
    common=Arm(corpus="facts", tokens=12_000, instrument="facts", figure="P@1, stated"),
    arms={
        "MLM": {"entry": "MLM"},
        "names": {"entry": "entity masking"},
        "phrases": {"entry": "phrase masking"},
    },
    rules=(higher("names", "MLM"), higher("phrases", "MLM")),
    unit="of the facts",
    seeds=4,
    scale="The text has facts only, in two wordings that are also asked. Answers are single words, so that "
    "names of two words count only as subjects. A job is not a name, so hidden names never ask for it.",
)
