"""How the cost of a loss grows with the vocabulary."""

import time
from statistics import median

import torch

from playground.claims import Arm, Lab
from playground.claims.lab import entry_of
from playground.corpora import pick
from playground.models.model import make_model
from playground.rng import generator

SMALL, LARGE, ROWS, REPEATS = 2_000, 32_000, 8, 9
"""Words of the two vocabularies, rows of text, and passes of which the median is taken."""


@torch.no_grad()
def growth(lab: Lab, arm: "Arm", seed: int) -> float:
    """The time of a loss with the large vocabulary, as a multiple of that with the small one; the text is the same."""
    entry, text = entry_of(arm), lab.subject(arm, seed).held_out
    rng = generator(seed, "vocabulary")
    batch = entry.objective.batch(pick(text, torch.randperm(len(text.ids), generator=rng)[:ROWS]), rng)
    seconds: dict[int, list[float]] = {SMALL: [], LARGE: []}
    models = {size: make_model(entry.model, size, rng) for size in seconds}
    for size in [*seconds] * REPEATS:
        began = time.perf_counter()
        models[size](batch)[-1].losses()
        seconds[size].append(time.perf_counter() - began)
    return median(seconds[LARGE]) / median(seconds[SMALL])
