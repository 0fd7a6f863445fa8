"""A permutation language model reads no [MASK], which no text in use has, and does not assume that the words it
predicts are independent; a masked language model does both."""

import torch

from playground import leaks
from playground.batch import Action
from playground.claims import Arm, Claim, Lab, equal
from playground.claims.figures.text import held_out


def drawbacks(lab: Lab, arm: Arm, seed: int) -> float:
    """How many of two drawbacks: [MASK] in the input, and predicted words none of which sees another predicted one."""
    batch, layers = held_out(lab, arm, seed), lab.subject(arm, seed).model.shape.layers
    masks = bool((batch.inputs.ids == batch.tokens.specials.mask).any())
    target, row = batch.targets[0], 0
    words = target.origin[row][target.loss_mask[row]]
    known = batch.actions[row][words] != Action.SCORED_AS_IS
    sees = leaks.known_positions(batch, target, layers, row)[target.loss_mask[row]][known][:, words[known]]
    return float(masks) + float(not bool((sees & ~torch.eye(len(sees), dtype=torch.bool)).any()))


K063 = Claim(
    title="Neither [MASK] nor independence",
    source="Liu et al., sec. 2.3; From Static to Contextualized Embedding; Yang et al., arXiv:1906.08237, sec. 2.1",
    prediction="MLM has both drawbacks and PLM has none: no [MASK] in its input, and the prediction of a word sees "
    "words that were predicted before it.",
    otherwise="PLM has one of the two, or MLM lacks one.",
    common=Arm(corpus="world", steps=0),
    arms={"MLM": {"entry": "MLM"}, "PLM": {"entry": "PLM"}},
    compute=drawbacks,
    seeds=2,
    rules=(equal("MLM", 2.0), equal("PLM", 0.0)),
    unit="drawbacks of two",
    scale="Both follow from the objectives, at any size of model. A model may use words predicted before "
    "it and still does not: after 500 steps a tiny PLM still mixes the halves of names (instrument two masks).",
)
