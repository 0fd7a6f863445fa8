"""How often a model that was trained on pairs of texts judges held-out pairs rightly."""

from dataclasses import replace

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.claims import Arm, Lab
from playground.claims.figures.text import answered
from playground.corpora import pick
from playground.objectives import find_objective

PAIRS = 800
"""Held-out pairs that are read."""


def pairs(lab: Lab, arm: "Arm", seed: int) -> Tokens:
    """Random pairs of held-out segments with their labels."""
    subject, length = lab.subject(arm, seed), lab.learner(arm, seed).entry.recipe.seq_len
    rows = lab.corpus(arm).pairs(length, "held_out", seed)
    return pick(rows, torch.randperm(len(rows.ids), generator=subject.rng("pairs", seed))[:PAIRS])


def right_pairs(lab: Lab, arm: "Arm", seed: int, asked: str, rows: Tokens, outcome: str = "") -> float:
    """The share of pairs that a model judges rightly at NSP or SOP; all of one `outcome` if given."""
    subject = lab.subject(arm, seed)
    overrides = {"pair": outcome} if outcome else None
    batch = find_objective(asked).steps(rows, subject.rng("judged", seed), overrides)[-1].batch
    right = answered(subject, batch).right()
    assert right is not None
    return float(right.float().mean())


def from_topic(rows: Tokens, same: bool, draw: Tensor) -> Tokens:
    """The pairs with "other" a second segment of another row, whose document has the same topic or another one."""
    topic, count = rows.labels["topic"][:, 0], len(rows.ids)
    fits = (topic[:, None] == topic[None]) == same
    chosen = draw.masked_fill(~fits | torch.eye(count, dtype=torch.bool), -1.0).argmax(1)
    return replace(rows, neighbours={**rows.neighbours, "other": pick(rows.neighbours["next"], chosen)})
