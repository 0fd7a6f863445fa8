"""A contrastive loss is cheaper than a language model's, since it has no sum over the vocabulary."""

from playground.claims import Arm, Claim, alike, higher
from playground.claims.figures.vocabulary import growth

K097 = Claim(
    title="Contrast and the vocabulary",
    source="Qiu et al., sec. 3.1.5",
    prediction="With a vocabulary 16 times as large the loss of LM takes at least 4 times as long, that of sentence "
    "matching about as long as before.",
    otherwise="Both take longer, or neither.",
    common=Arm(steps=0, figure="times as long"),
    arms={"LM": {"entry": "LM"}, "sentence matching": {"entry": "sentence matching"}},
    rules=(higher("LM", 4.0), alike("sentence matching", 1.0, within=0.5)),
    compute=growth,
    unit="times as long",
    scale="Time of the loss on this machine, the network included, without gradients: ours are dense, so an optimiser "
    "would touch every row of the table in both cases.",
    also=("attention",),
)
