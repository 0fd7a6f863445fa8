"""Factorised embeddings and shared layers together drop over 88 % of the parameters, and the performance drops by less
than 3 %."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.claims.lab import entry_of

ALBERT = "layer_sharing=all, embedding_size=16"


def dropped(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of parameters that ALBERT base has fewer than BERT base, or the accuracy lost by the tiny model."""
    if arm.figure == "parameters":
        albert, bert = (entry_of(Arm(name)).published[0].count() for name in ("ALBERT", "BERT"))
        return 1 - albert / bert
    small, plain = (lab.tuned(replace(arm, settings=how, figure=""), seed) for how in (ALBERT, ""))
    return plain.accuracy - small.accuracy


K178 = Claim(
    title="ALBERT drops 88 % of the parameters",
    source="From Static to Contextualized Embedding, ALBERT; Lan et al., arXiv:1909.11942, table 1",
    prediction="Of the published sizes over 88 % are dropped; with both changes a tiny model loses less than 0.03 of "
    "the accuracy.",
    otherwise="Fewer parameters are dropped, or more of the accuracy.",
    common=Arm("MLM", corpus="world", task="part of speech"),
    arms={name: {"figure": name} for name in ("parameters", "accuracy")},
    rules=(higher("parameters", 0.88, exact=True), lower("accuracy", 0.0, by=-0.03)),
    compute=dropped,
    unit="(share of the parameters, accuracy lost)",
    published="Over 88 % of the parameters, less than 3 % of the performance.",
    scale="The parameters are those of BERT base and ALBERT base. The accuracy is that of two layers of width 64 and a "
    "table of width 16, which loses far more words than 128 of 768.",
)
