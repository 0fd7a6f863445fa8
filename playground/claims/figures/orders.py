"""How likely hidden words are when they are predicted in different orders."""

from itertools import permutations

import numpy as np
import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, with_gap
from playground.analysis.lattice import Lattice
from playground.analysis.subject import Subject
from playground.claims import Arm, Lab
from playground.corpora import pick

WORDS, ROWS = 5, 12
"""Words of a row that are predicted, which have 120 orders, and how many rows of held-out text are read."""


def spread_over_orders(lab: Lab, arm: "Arm", seed: int) -> float:
    """The standard deviation over all orders of the nats of five neighbours given the rest; the mean over some rows."""
    subject, orders = lab.subject(arm, seed), list(permutations(range(WORDS)))
    spreads = []
    for row in range(ROWS):
        first = int(torch.randint(subject.held_out.ids.shape[1] - WORDS, (1,), generator=subject.rng("orders", row)))
        lattice = lattice_of(subject, row, torch.arange(first, first + WORDS))
        spreads.append(np.std([lattice.in_order(order).nats for order in orders]))
    return float(np.mean(spreads))


def lattice_of(subject: Subject, row: int, positions: Tensor) -> Lattice:
    """The losses of some words of a held-out row in every set of hidden ones, of any model that fills gaps."""
    sets = (torch.arange(1 << WORDS)[:, None] >> torch.arange(WORDS)) & 1 == 1
    number, word = sets.nonzero(as_tuple=True)
    tokens = pick(subject.held_out, torch.full_like(number, row))
    hidden = torch.zeros(tokens.ids.shape, dtype=torch.bool)
    hidden[:, positions] = sets[number].scatter(1, word[:, None], False)
    chances = log_chances(subject.model, with_gap(subject.model.shape, tokens, positions[word], hidden))
    losses = torch.zeros(sets.shape, dtype=torch.float64)
    losses[number, word] = -chances.gather(1, tokens.ids.gather(1, positions[word][:, None]))[:, 0].double()
    return Lattice(losses.numpy())
