"""Position vectors can be learned or fixed; learned ones end at the trained length."""

from dataclasses import replace

import torch

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.claims.figures.text import answered
from playground.corpora import pick

TRAINED, ROWS = 32, 200
"""Tokens of a row in training, and rows that are read, twice as long."""


def loss(lab: Lab, arm: Arm, seed: int) -> float:
    """The nats of a word within the trained length or beyond it, of the model with one kind of positions."""
    positions, _, where = arm.figure.partition(", ")
    subject = lab.subject(replace(arm, settings=f"positions={positions}", figure=""), seed)
    windows = lab.corpus(arm).windows(2 * TRAINED, "held_out")
    rows = pick(windows, torch.arange(ROWS))
    answer = answered(subject, subject.objective.batch(rows, subject.rng("positions")))
    beyond = answer.positions >= TRAINED
    return float(answer.losses()[beyond if where == "beyond" else ~beyond].mean())


K032 = Claim(
    title="Learned and fixed positions",
    source="Weng, BERT; From Static to Contextualized Embedding, BERT; Vaswani et al., arXiv:1706.03762, sec. 3.5",
    prediction="Within the trained length both have the same loss, to 0.1 nats; in rows twice as long the loss of "
    "learned positions rises by 0.5 nats, and more than that of fixed ones.",
    otherwise="One kind is better within the length, or learned positions work beyond it.",
    common=Arm("LM", corpus="world"),
    arms={
        f"{positions}, {where}": {"figure": f"{positions}, {where}"}
        for positions in ("learned", "sinusoidal") for where in ("within", "beyond")
    },
    rules=(
        alike("learned, within", "sinusoidal, within", within=0.1),
        higher("learned, beyond", "learned, within", by=0.5),
        higher("learned, beyond", "sinusoidal, beyond"),
    ),
    compute=loss,
    unit="nats",
    scale="Positions beyond 32 have vectors that no step trains. 300 steps are few for either kind; our own default is "
    "rotary, which learns faster.",
)  # fmt: skip
