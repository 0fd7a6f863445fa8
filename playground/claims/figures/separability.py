"""Whether hidden states tell if the text around a word was changed."""

import torch
from torch import Tensor

from playground.analysis.subject import Subject, read_states
from playground.batch import Tokens

STRENGTH = 1e-2
"""Ridge penalty of the classifier, relative to the mean square of the states."""


def separability(subject: Subject, tokens: Tokens, plain: Tensor, changed: Tensor, compared: Tensor) -> float:
    """The accuracy with which a linear classifier tells states of a changed text from those of the plain one.

    `plain` and `changed` are ids `[b, t]`; `compared` `[b, t]` marks words that are the same in both. It learns from
    the first half of the texts and is tested on the other half. 0.5 is chance.
    """
    found = []
    for ids in (plain, changed):
        states = read_states(subject.model.eval(), _with(tokens, ids))[-1]
        half = len(ids) // 2
        found.append([states[:half][compared[:half]], states[half:][compared[half:]]])
    (train, test), (train_changed, test_changed) = found
    weights = _fitted(torch.cat([train, train_changed]), _labels(train, train_changed))
    scores = _affine(torch.cat([test, test_changed])) @ weights
    return float(((scores > 0) == (_labels(test, test_changed) > 0)).float().mean())


def _with(tokens: Tokens, ids: Tensor) -> Tokens:
    zeros = torch.zeros_like(ids)
    return Tokens(ids, tokens.lengths, zeros, zeros, tokens.specials, vocabulary=tokens.vocabulary)


def _labels(plain: Tensor, changed: Tensor) -> Tensor:
    return torch.cat([-torch.ones(len(plain)), torch.ones(len(changed))]).double()


def _affine(states: Tensor) -> Tensor:
    return torch.cat([states, torch.ones(len(states), 1)], dim=1).double()


def _fitted(states: Tensor, labels: Tensor) -> Tensor:
    """Ridge regression on the labels, `[d + 1]`."""
    rows = _affine(states)
    square = rows.T @ rows
    return torch.linalg.solve(
        square + STRENGTH * square.diag().mean() * torch.eye(len(square)).double(), rows.T @ labels
    )
