"""Structural objectives, such as putting shuffled words back in order, add knowledge of order to masking."""

from playground.claims import Arm, Claim, higher

K101 = Claim(
    title="StructBERT and the order of words",
    source="Liu et al., sec. 3.2; Wang et al., arXiv:1908.04577",
    prediction="A probe tells sentences with two swapped neighbours (BShift) from others better after masking with "
    "shuffled trigrams than after masking alone.",
    otherwise="Both are equally good.",
    common=Arm(corpus="world", instrument="probing classifier(task=BShift)", figure="accuracy"),
    arms={"word structure": {"entry": "word structure"}, "MLM": {"entry": "MLM"}},
    rules=(higher("word structure", "MLM"),),
    unit="of the sentences",
    scale="The order of words only, not that of sentences. One trigram in 20 is shuffled, for 300 steps.",
)
