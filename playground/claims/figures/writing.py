"""Sentences that a model writes, word by word, and how many of them the grammar of its corpus can write too."""

from dataclasses import replace

import torch

from playground.analysis.cloze import log_chances, one_sided, with_gap
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.claims import Arm, Lab
from playground.corpora import pick
from playground.errors import UserError

LENGTH, SENTENCES = 7, 100
"""Tokens of a sentence, and how many sentences are written."""


def grammatical(lab: Lab, arm: "Arm", seed: int) -> float:
    """The share of written sentences that the grammar can write."""
    subject = lab.subject(arm, seed)
    rules = automaton_of(subject.corpus)

    def fits(ids: list[int]) -> bool:
        try:
            ParseChart(rules, tuple(ids))
        except UserError:
            return False
        return True

    rows = written(subject)
    return sum(map(fits, rows.ids.tolist())) / len(rows.ids)


def written(subject: Subject) -> Tokens:
    """Sentences of one length whose first word is that of a held-out one; all others are drawn, one after another.

    A model of one direction writes from left to right; every other fills the positions in a random order.
    """
    there = subject.sentences(4000)
    rows = (there.lengths == LENGTH).nonzero()[:SENTENCES, 0]
    text, rng, shape = pick(there, rows), subject.rng("written"), subject.model.shape
    text = replace(text, ids=text.ids[:, :LENGTH], word_ids=text.word_ids[:, :LENGTH], labels={}, padded=False)
    text = replace(text, sentence_ids=text.sentence_ids[:, :LENGTH])
    order = torch.arange(1, LENGTH) if one_sided(shape) else 1 + torch.randperm(LENGTH - 1, generator=rng)
    hidden = (torch.arange(LENGTH) > 0).expand(len(rows), LENGTH).clone()
    for position in order.tolist():
        hidden[:, position] = False
        chances = log_chances(subject.model, with_gap(shape, text, torch.full((len(rows),), position), hidden)).exp()
        chances[:, list(text.specials.ids)] = 0.0
        ids = text.ids.clone()
        ids[:, position] = torch.multinomial(chances, 1, generator=rng)[:, 0]
        text = replace(text, ids=ids)
    return text
