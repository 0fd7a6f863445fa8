"""A model that also tells whether names were replaced knows more facts than one that only predicts hidden words."""

from playground.claims import Arm, Claim, higher

K099 = Claim(
    title="Facts from replaced names",
    source="Qiu et al., sec. 3.1.5 and 4.1; Xiong et al., arXiv:1912.09637",
    prediction="MLM with entity replacement answers more cloze questions about stated facts than MLM alone.",
    otherwise="It answers as many or fewer.",
    common=Arm(corpus="facts", tokens=12_000, instrument="facts", figure="P@1, stated"),
    arms={"MLM + replacement": {"entry": "MLM + entity replacement"}, "MLM": {"entry": "MLM"}},
    rules=(higher("MLM + replacement", "MLM"),),
    unit="of the stated facts",
    scale="At equal steps; the sum of objectives reads twice as many rows in a step. Every sentence of this text "
    "states a fact, so that MLM alone hides many names too.",
)
