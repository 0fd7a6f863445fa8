"""Pre-training helps little where it does not match the task; tasks that compare two texts need pre-training on pairs
of texts."""

from playground.claims import Arm, Claim, higher, lower
from playground.claims.figures.benefit import benefit

K085 = Claim(
    title="Pre-training that does not match the task",
    source="Qiu et al., sec. 8.2",
    prediction="For the choice of a story's ending MLM on single texts adds less than 0.05 to a random start, and MLM "
    "with NSP on pairs adds more than MLM.",
    otherwise="MLM on single texts helps as much, or by 0.05 and more.",
    common=Arm(corpus="stories", steps=1000, one_model=True, task="story ending"),
    arms={"NSP + MLM": {"entry": "NSP + MLM"}, "MLM": {"entry": "MLM"}},
    compute=benefit,
    rules=(higher("NSP + MLM", "MLM"), lower("MLM", 0.0, by=-0.05)),
    unit="accuracy more than from a random start",
    scale="One model of each kind for all seeds, which draw other texts and heads. The source also says that "
    "generation needs an encoder and a decoder; a masked encoder cannot write here at all.",
)
