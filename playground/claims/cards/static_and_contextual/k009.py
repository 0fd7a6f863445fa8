"""Negative samples are best drawn by the frequency of words to the power of 3/4, which lies between the same
probability for all (0) and the frequency itself (1)."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.analogies import solved

K009 = Claim(
    title="Noise to the power of 3/4",
    source="From Static Embedding to Contextualized Embedding, Word2Vec; arXiv:1310.4546, sec. 2.2",
    prediction="With the power 0.75 more analogies are solved than with 0 and with 1.",
    otherwise="One of the ends is as good, or better.",
    common=Arm("skip-gram NS", corpus="families", instrument="analogies", figure="share solved"),
    arms={f"power {power}": {"settings": f"ns_exponent={power}"} for power in (0, 0.75, 1)},
    rules=(higher("power 0.75", "power 0"), higher("power 0.75", "power 1")),
    compute=solved,
    unit="of the analogies",
    scale="About 130 words of rather even frequency; the paper has 692,000 words, where the powers differ far more. "
    "That rare words are drawn more often than they occur follows from the power itself.",
)
