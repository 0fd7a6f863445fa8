"""The full softmax is inefficient, because its cost grows with the vocabulary; negative sampling removes the sum over
all words."""

from playground.claims import Arm, Claim, alike, higher
from playground.claims.figures.vocabulary import growth

K007 = Claim(
    title="Negative sampling and the vocabulary",
    source="From Static Embedding to Contextualized Embedding, Word2Vec; arXiv:1310.4546, sec. 2.2",
    prediction="With a vocabulary 16 times as large the loss of skip-gram takes at least 8 times as long, that with "
    "negative sampling about as long as before.",
    otherwise="Both take longer, or neither.",
    common=Arm(steps=0, figure="times as long"),
    arms={"skip-gram": {"entry": "skip-gram"}, "skip-gram NS": {"entry": "skip-gram NS"}},
    rules=(higher("skip-gram", 8.0), alike("skip-gram NS", 1.0, within=0.5)),
    compute=growth,
    unit="times as long",
    scale="Time of the loss on this machine, without gradients: ours are dense, so an optimiser would touch every row "
    "of the table in both cases and hide the difference.",
)
