"""Training on single texts without next sentence prediction is better than on pairs of texts with it."""

from playground.claims import Arm, Claim, higher

K050 = Claim(
    title="Single texts without NSP",
    source="Qiu et al., sec. 3.1.5; Joshi et al., arXiv:1907.10529, sec. 3.3",
    prediction="After equal steps on rows of equal length, MLM on single texts finds more names than MLM with NSP on "
    "pairs.",
    otherwise="The model of pairs finds as many.",
    common=Arm(corpus="world", task="entities", train_size=128, figure="accuracy"),
    arms={"single texts": {"entry": "MLM"}, "pairs with NSP": {"entry": "MLM + NSP"}},
    rules=(higher("single texts", "pairs with NSP"),),
    unit="F1 of the names",
    scale="Names are spans of one or two words. Pairs without NSP, which would tell the two changes apart, are left "
    "out.",
)
