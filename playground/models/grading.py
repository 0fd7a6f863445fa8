"""Grading: cross-entropy at the graded positions of a whole batch, nothing anywhere else."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from playground.example import Question


@dataclass(frozen=True)
class Answer:
    """A model's scores for the graded positions of one question.

    `rows` and `places` `[k]` say where each of the k graded answers stands, `scores` is `[k, v]` (or `[k, 1]` for
    yes or no), `targets` `[k]`.
    """

    question: Question
    rows: Tensor
    places: Tensor
    scores: Tensor
    targets: Tensor

    def losses(self) -> Tensor:
        """The loss of every graded answer in nats, `[k]`."""
        if self.question.head == "replaced":
            return binary_cross_entropy_with_logits(self.scores[:, 0], self.targets.float(), reduction="none")
        return cross_entropy(self.scores, self.targets, reduction="none")

    def mean(self) -> Tensor:
        """The mean over all graded answers of the batch; a question without graded answers costs 0, never NaN."""
        if not len(self.targets):
            return self.scores.sum() * 0.0
        if self.question.head == "replaced":
            return binary_cross_entropy_with_logits(self.scores[:, 0], self.targets.float())
        return cross_entropy(self.scores, self.targets)


def grade(answers: Sequence[Answer]) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted sum that is trained, and each question's own mean loss in nats."""
    terms = {a.question.name: a.mean() for a in answers}
    total = sum((a.question.weight * terms[a.question.name] for a in answers), torch.zeros(()))
    assert isinstance(total, Tensor)
    return total, terms
