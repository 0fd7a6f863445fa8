"""Held-out rows that are in the training rows."""

from dataclasses import replace

import torch

from playground.corpora import Corpus
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.rng import generator

ROW = 32
"""Tokens of a row, those of the recipe."""


def shuffled_first(corpus: Corpus) -> Corpus:
    """Training rows from the shuffled text, held-out rows from the text in its order."""
    border = corpus.held_out_from
    rows = torch.arange(border % ROW, len(corpus)).unfold(0, ROW, ROW)
    mixed = rows[torch.randperm(len(rows), generator=generator(0, "split"))].flatten()
    order = torch.cat([mixed[: border // ROW * ROW], torch.arange(border % ROW), torch.arange(border, len(corpus))])
    moved = {name: getattr(corpus, name)[order] for name in ("ids", "word_ids", "sentence_ids", "document_ids")}
    return replace(corpus, **moved, labels={name: row[order] for name, row in corpus.labels.items()})


def seen_in_training(suspect: Suspect) -> float:
    """The share of the held-out rows that are also training rows."""
    train = {tuple(row) for row in suspect.sampler.windows.ids.tolist()}
    held_out = suspect.sampler.held_out.ids.tolist()
    return sum(tuple(row) in train for row in held_out) / len(held_out)


SPLIT_AFTER_SHUFFLING = Fault(
    name="held-out rows that are also training rows",
    group="Data",
    symptom="Most of the texts on which the model is evaluated can also be read in its training batches.",
    explanation="The text was shuffled before the training rows were cut from it, but not before the held-out rows "
    "were, so most of these were in both. A text is split first and shuffled then.",
    repository="marin-community/marin",
    thread="https://github.com/marin-community/marin/pull/2700",
    law="No held-out row is a training row.",
    shows="the share of held-out rows that are training rows",
    figure=seen_in_training,
    holds=lambda suspect: seen_in_training(suspect) < 0.01,
    change_corpus=shuffled_first,
    steps=60,
)
