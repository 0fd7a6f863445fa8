"""A simple model on word vectors predicts numeric and binary attributes of things."""

import torch

from playground.claims import Arm, Claim, Lab, higher
from playground.corpora.tinyworld.presets.kinds import LEGS, TAXONOMY
from playground.objectives.ops.cooccurrence import cooccurrence, dense, factors, ppmi

NUMBERS = {"two": 2.0, "four": 4.0, "six": 6.0}
RIDGE = 0.1
"""Penalty, relative to the mean square of the vectors."""


def explained(lab: Lab, arm: Arm, _seed: int) -> float:
    """R squared of an attribute by ridge regression, each thing predicted from all others."""
    kinds = [
        (thing, kind, top) for top, some in TAXONOMY.items() for kind, all_ in some.items() for thing in all_.split()
    ]
    if arm.figure == "legs":
        values = {thing: NUMBERS[LEGS[kind]] for thing, kind, _ in kinds if kind in LEGS}
    else:
        values = {thing: float(top == "animal") for thing, _, top in kinds}
    corpus = lab.corpus(arm)
    table = dense(cooccurrence(corpus.ids, corpus.tokenizer.specials), len(corpus.tokenizer))
    x = factors(ppmi(table), 16)[[corpus.tokenizer.encode_word(thing)[0] for thing in values]].double()
    y = torch.tensor([*values.values()], dtype=torch.double)
    x, mean = x - x.mean(0), (y.sum() - y) / (len(y) - 1)
    hat = x @ torch.linalg.solve(x.T @ x + RIDGE * x.square().mean() * len(x) * torch.eye(16).double(), x.T) + 1 / len(
        y
    )
    left = (y - hat @ y) / (1 - hat.diag())  # the error without the thing itself
    return float(1 - left.square().sum() / (y - mean).square().sum())


K016 = Claim(
    title="Attributes in word vectors",
    source="Qiu et al., sec. 3.3.1; Gupta et al. 2015, D15-1002",
    prediction="Ridge regression predicts the number of legs and whether a thing is an animal, for things that it has "
    "not seen, better than the mean does: R squared is at least 0.25.",
    otherwise="The mean of the other things is as good.",
    common=Arm("GloVe", corpus="kinds", steps=0),
    arms={name: {"figure": name} for name in ("legs", "animal")},
    rules=(higher("legs", 0.25, exact=True), higher("animal", 0.25, exact=True)),
    compute=explained,
    unit="R squared",
    scale="Eight things with legs and 17 in all, in generated reports half of which say the attribute. Vectors are "
    "PPMI with 16 singular values, so there is no chance in it.",
    seeds=1,
)
