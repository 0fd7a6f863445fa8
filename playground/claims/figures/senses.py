"""Whether the state of an ambiguous word tells its meaning, by the place of the cue in its sentence."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.cloze import texts
from playground.analysis.subject import Subject, read_states
from playground.corpora.tinyworld.tasks.senses import Sensed, sense_sentences

NEAR = {"train": 120, "test": 55}
"""Sentences with one cue, for the mean vectors of the meanings and for the test."""

ROUNDING = 1e-6
"""Squared distances that differ by less are a tie."""


def word_states(subjects: Sequence[Subject], sentences: Sequence[Sensed]) -> Tensor:
    """The top states of the ambiguous words, each of length 1, those of several models one after the other `[k, d]`."""
    rows, at = torch.arange(len(sentences)), torch.tensor([one.position for one in sentences])
    tokens = texts([one.words for one in sentences], subjects[0].tokenizer)
    each = [read_states(subject.model.eval(), tokens)[-1][rows, at] for subject in subjects]
    return torch.cat([normalize(states.double(), dim=-1) for states in each], dim=-1)


def sense_accuracy(subjects: Sequence[Subject], known: Sequence[Sensed], asked: Sequence[Sensed]) -> float:
    """The share of words whose state is nearer to the mean state of their own meaning than of the other one.

    A tie counts a half, so that states which do not depend on the meaning have exactly 0.5 (nearest mean vector of a
    sense: arXiv:1802.05365, sec. 5.3). Words without a known sentence of either meaning are left out.
    """
    states, tests = word_states(subjects, [*known, *asked]).split([len(known), len(asked)])
    senses = [one.sense for one in known]
    means = {sense: states[[s == sense for s in senses]].mean(0) for sense in set(senses)}
    hits = []
    for one, state in zip(asked, tests, strict=True):
        word = one.sense.partition(".")[0]
        others = [mean for sense, mean in means.items() if sense != one.sense and sense.partition(".")[0] == word]
        if one.sense in means and others:
            nearer = float((state - others[0]).square().sum() - (state - means[one.sense]).square().sum())
            hits.append(0.5 if abs(nearer) < ROUNDING else float(nearer > 0))
    return sum(hits) / len(hits)


def accuracy_with_cue(subject: Subject, cue: str, seed: int) -> float:
    """`sense_accuracy` in sentences whose cue stands at one place, on others than give the mean vectors."""
    return sense_accuracy(
        [subject],
        sense_sentences(cue, NEAR["train"], seed, "train"),
        sense_sentences(cue, NEAR["test"], seed, "test"),
    )
