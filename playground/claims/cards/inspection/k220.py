"""A model that predicts the next word reads one direction, but has no [MASK] that texts lack, predicts words jointly
and can write; a model that fills gaps has the opposite of all four."""

from dataclasses import replace

from playground.analysis.generation import cannot_write
from playground.claims import Arm, Claim, Lab, equal

CLAIMED = {"LM": (False, False, False, True), "MLM": (True, True, True, False)}
"""Sees both sides; reads [MASK], which no text has; puts halves of names together that do not fit; can write."""


def properties(lab: Lab, arm: Arm, seed: int) -> float:
    """How many of the four properties of a model are as claimed."""
    subject = lab.subject(arm, seed)
    batch = subject.batch(8)
    reads = lab.finding(replace(arm, instrument="sensitivity(sentence=anna flew to new york .)"), seed)
    pairs = lab.finding(replace(arm, instrument="two masks"), seed).numbers[0]
    found = (
        reads.numbers[0].value == 0.0,
        bool((batch.inputs.ids == subject.tokenizer.specials.mask).any()),
        pairs.value > 0.5,
        not cannot_write(subject.model.shape, subject.objective),
    )
    return sum(one == other for one, other in zip(found, CLAIMED[arm.entry], strict=True))


K220 = Claim(
    title="Next words against gaps",
    source="Weng, XLNet; From Static Embedding to Contextualized Embedding, XLNet",
    prediction="All four properties of LM and of MLM are as claimed.",
    otherwise="Fewer are.",
    common=Arm(corpus="world", figure="properties as claimed"),
    arms={"LM": {"entry": "LM"}, "MLM": {"entry": "MLM"}},
    rules=(equal("LM", 4.0), equal("MLM", 4.0)),
    compute=properties,
    unit="of 4 properties",
    scale="Three of the four follow from the objective; that halves of names are mixed is measured: more than half of "
    "the probability goes to names that do not exist. MLM can be made to write, but it is not trained to.",
    seeds=2,
    also=("attention",),
)
