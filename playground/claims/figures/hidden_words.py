"""The loss of hidden words under one corruption, whatever a model was trained with."""

from statistics import fmean

import torch

from playground.claims import Arm, Lab
from playground.models import total_loss
from playground.objectives import find_objective

DRAWS = 4
"""How often the held-out rows are corrupted."""


def loss_of_hidden_words(lab: Lab, arm: "Arm", seed: int) -> float:
    """The mean held-out loss of MLM at 15 %, in nats a word."""
    subject, objective = lab.subject(arm, seed), find_objective("MLM")
    batches = [objective.batch(subject.held_out, subject.rng("hidden words", draw)) for draw in range(DRAWS)]
    with torch.no_grad():
        return fmean(float(total_loss(subject.model.eval()(batch))[0]) for batch in batches)
