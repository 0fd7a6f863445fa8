"""Over the random orders of its training, a permutation language model predicts each word from words on both of its
sides."""

import torch

from playground import leaks
from playground.claims import Arm, Claim, Lab, equal
from playground.claims.figures.text import held_out


def pairs_seen(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of pairs of two positions of which one is seen when the other is predicted, in any row."""
    batch, layers = held_out(lab, arm, seed), lab.subject(arm, seed).model.shape.layers
    size, target = 8, batch.targets[0]
    seen = torch.zeros(batch.tokens.ids.shape[1], batch.tokens.ids.shape[1], dtype=torch.bool)
    for row in range(len(batch.tokens.ids)):
        scored = target.loss_mask[row]
        seen[target.origin[row][scored]] |= leaks.known_positions(batch, target, layers, row)[scored]
    return float(seen[:size, :size].sum() - seen[:size, :size].diag().sum()) / (size * (size - 1))


K057 = Claim(
    title="Both sides, on average over orders",
    source="Liu et al., sec. 2.3; Yang et al., arXiv:1906.08237, sec. 2.2",
    prediction="Added up over many texts, every position is seen from every other one with PLM; with LM from half.",
    otherwise="Some pairs of positions stay closed in every order.",
    common=Arm(corpus="world", steps=0),
    arms={"PLM": {"entry": "PLM"}, "LM": {"entry": "LM"}},
    compute=pairs_seen,
    rules=(equal("PLM", 1.0), equal("LM", 0.5)),
    seeds=2,
    unit="of the pairs",
    scale="This follows from the attention masks, so no training and no size of model changes it. The first eight "
    "positions of 64 texts are counted.",
    also=("attention",),
)
