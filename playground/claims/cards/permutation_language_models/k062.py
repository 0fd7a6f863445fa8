"""A word must be hidden when it is predicted and seen afterwards. One stream either reads its own answer or keeps words
from the later predictions; two streams do neither."""

from playground.claims import Arm, Claim, lower

K062 = Claim(
    title="Why two streams?",
    source="Weng, XLNet; From Static to Contextualized Embedding; Yang et al., arXiv:1906.08237, sec. 2.3",
    prediction="A stream that sees itself has nearly no loss, because it copies; positions that never see a word have "
    "more loss than two streams.",
    otherwise="One stream learns as much as two, without a leak.",
    common=Arm(entry="PLM", corpus="world", steps=100, figure="held-out loss"),
    arms={
        "two streams": {"settings": "streams=two streams"},
        "sees itself": {"settings": "streams=one that sees itself"},
        "positions only": {"settings": "streams=positions only"},
    },
    rules=(lower("sees itself", "two streams", by=1.0), lower("two streams", "positions only")),
    unit="nats",
    scale="The leak follows from the mask, at any size of model. How much the later predictions lose without words "
    "depends on the text and on the 100 steps of training.",
)
