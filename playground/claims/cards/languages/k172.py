"""Static word vectors of two languages must be aligned, and a few known word pairs are enough."""

from playground.analysis.procrustes import align, dictionary, shuffled, spaces
from playground.claims import Arm, Claim, Lab, Rule, higher

PAIRS = {"not aligned": 20, "20 pairs": 20, "100 pairs": 100}
"""Word pairs to which the rotation is fitted; without it they are only left out."""


def translated(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of words, none of them in the known pairs, whose nearest word of the other language translates them."""
    corpus = lab.corpus(arm)
    first, second = lab.once(("spaces", corpus.name), lambda: spaces(corpus))
    found = align(first, second, shuffled(dictionary(corpus), seed), PAIRS[arm.figure])
    return found.before.new if arm.figure == "not aligned" else found.new


K172 = Claim(
    title="Static vectors need an alignment",
    source="Qiu et al., sec. 4.2",
    prediction="Without an alignment at most 0.05 of the nearest words are translations; after a rotation that is "
    "fitted to 20 pairs at least 0.3 are.",
    otherwise="Words are translated without an alignment, or 20 pairs are too few.",
    common=Arm(corpus="parallel", steps=0),
    arms={name: {"figure": name} for name in PAIRS},
    rules=(Rule("not aligned", 0.0, 0.0, 0.05), higher("20 pairs", 0.3)),
    compute=translated,
    unit="of the unknown words",
    scale="Factors of counts from two texts with the same topics, but another order of words. Vectors have 32 "
    "dimensions, so 20 pairs do not fix the whole rotation. The seed draws the pairs.",
)
