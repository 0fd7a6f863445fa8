"""A masked language model predicts masked words independently, so it mixes the halves of two names."""

from playground.claims import Arm, Claim, higher

K040 = Claim(
    title="New Angeles",
    source="Liu et al., sec. 2.3; Weng, XLNet; Yang et al., arXiv:1906.08237, sec. 2.5",
    prediction="Of the probability of two masked words of a name, MLM gives most to pairs that do not exist.",
    otherwise="MLM and LM give the same share to impossible pairs.",
    common=Arm(corpus="world", steps=500, instrument="two masks", figure="impossible pairs, one after the other"),
    arms={"MLM": {"entry": "MLM"}, "LM": {"entry": "LM"}},
    rules=(higher("MLM", "LM", by=0.5),),
    unit="of the probability",
    scale="With 8 names each half fits 8 others, so independence alone gives 0.875 to mixtures, at any size of model.",
    also=("attention",),
)
