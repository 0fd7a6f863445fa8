"""K007: the full softmax costs more with every word of the vocabulary, negative sampling does not."""

import time
from statistics import median
from typing import TYPE_CHECKING

import torch

from playground.claims import Arm, Claim, alike, higher
from playground.claims.lab import entry_of
from playground.corpora import pick
from playground.models.model import make_model
from playground.rng import generator

if TYPE_CHECKING:
    from playground.claims.lab import Lab

SMALL, LARGE, ROWS, REPEATS = 2_000, 32_000, 8, 9
"""Words of the two vocabularies, rows of text, and passes of which the median is taken."""


@torch.no_grad()
def growth(lab: "Lab", arm: Arm, seed: int) -> float:
    """The time of a loss with the large vocabulary, as a multiple of that with the small one; the text is the same."""
    entry, text = entry_of(arm), lab.corpus(arm).windows(32)
    rng = generator(seed, "vocabulary")
    batch = entry.objective.batch(pick(text, torch.randperm(len(text.ids), generator=rng)[:ROWS]), rng)
    seconds: dict[int, list[float]] = {SMALL: [], LARGE: []}
    models = {size: make_model(entry.model, size, rng) for size in seconds}
    for size in [*seconds] * REPEATS:
        began = time.perf_counter()
        models[size](batch)[-1].losses()
        seconds[size].append(time.perf_counter() - began)
    return median(seconds[LARGE]) / median(seconds[SMALL])


K007 = Claim(
    name="K007",
    title="Negative sampling and the vocabulary",
    group="Static and contextual",
    statement="The full softmax is inefficient, because its cost grows with the vocabulary; negative sampling removes "
    "the sum over all words.",
    source="From Static Embedding to Contextualized Embedding, Word2Vec; arXiv:1310.4546, sec. 2.2",
    prediction="With a vocabulary 16 times as large the loss of skip-gram takes at least 8 times as long, that with "
    "negative sampling about as long as before.",
    otherwise="Both take longer, or neither.",
    common=Arm(steps=0, figure="times as long"),
    arms={"skip-gram": {"entry": "skip-gram"}, "skip-gram NS": {"entry": "skip-gram NS"}},
    rules=(higher("skip-gram", 8.0), alike("skip-gram NS", 1.0, within=0.5)),
    compute=growth,
    unit="times as long",
    scale="Time of the loss on this machine, without gradients: ours are dense, so an optimiser would touch every row "
    "of the table in both cases and hide the difference.",
    rows=("K007",),
)
