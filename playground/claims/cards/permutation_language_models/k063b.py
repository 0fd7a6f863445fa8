"""A permutation language model fills one word after the other, so it does not mix the halves of two names."""

from playground.claims import Arm, Claim, lower

K063B = Claim(
    title="New Angeles in any order",
    source="Liu et al., sec. 2.3; Yang et al., arXiv:1906.08237, sec. 2.5",
    prediction="Of the probability of two words of a name, PLM gives much less than MLM to pairs that do not exist.",
    otherwise="PLM gives about the same share to impossible pairs as MLM.",
    common=Arm(corpus="world", steps=500, instrument="two masks", figure="impossible pairs, one after the other"),
    arms={"PLM": {"entry": "PLM"}, "MLM": {"entry": "MLM"}},
    rules=(lower("PLM", "MLM", by=0.5),),
    unit="of the probability",
    scale="PLM may use the word before, and after 500 steps it may not have learned to. K063 is about what it may "
    "use, at any size.",
)
