"""Grading: cross-entropy at the scored positions of a whole batch, nothing anywhere else."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid

from playground.batch import CooccurrenceTarget, NegativeSampling, SoftTargets, Target
from playground.models import inplace_cross_entropy


@dataclass(frozen=True)
class Answer:
    """A model's scores for the scored positions of one question.

    `rows` and `positions` `[k]` say where each of the k scored answers stands, `scores` is `[k, v]` (`[k, 1]` for yes
    or no and for a count; the right word first and then the wrong ones where it is told from some), `targets` `[k]`, or
    `[k, v]` where a teacher says them.
    """

    target: Target
    rows: Tensor
    positions: Tensor
    scores: Tensor
    targets: Tensor

    def losses(self, consume: bool = False) -> Tensor:
        """The loss of every scored answer in nats, `[k]`.

        With `consume` the memory of the scores may be written over, by log-probabilities and then by the gradient: for
        training, where nobody reads them afterwards and fresh memory of that size costs as much as the arithmetic.
        """
        match self.target.loss:
            case NegativeSampling() as contrast:
                return contrastive_loss(self.scores, contrast, self._wrong(contrast), self.targets)
            case CooccurrenceTarget() as count:
                return glove_loss(self.scores[:, 0], count.counts[self.rows, self.positions], count)
        if self.target.head == "replaced":
            return binary_cross_entropy_with_logits(self.scores[:, 0], self.targets.float(), reduction="none")
        if consume and self.targets.dim() == 1 and len(self.targets):
            return inplace_cross_entropy.inplace_cross_entropy(self.scores, self.targets)
        return cross_entropy(self.scores, self.targets, reduction="none")

    def mean(self, consume: bool = False) -> Tensor:
        """The mean over all scored answers of the batch; a question without scored answers costs 0, never NaN."""
        return self.losses(consume).mean() if len(self.targets) else self.scores.sum() * 0.0

    def right(self) -> Tensor | None:
        """Which answers name what is right, `[k]` of booleans; nothing where a number or a teacher is to be met."""
        if isinstance(self.target.loss, CooccurrenceTarget | SoftTargets):
            return None
        if self.target.head == "replaced":
            return (self.scores[:, 0] > 0) == self.targets.bool()
        if isinstance(self.target.loss, NegativeSampling):
            there = self._wrong(self.target.loss) >= 0
            return ((self.scores[:, :1] > self.scores[:, 1:]) | ~there).all(1)
        return self.scores.argmax(1) == self.targets

    def _wrong(self, contrast: NegativeSampling) -> Tensor:
        return contrast.negatives[self.rows, self.positions]


def contrastive_loss(scores: Tensor, contrast: NegativeSampling, wrong: Tensor, right: Tensor) -> Tensor:
    """The loss `[k]` of telling the right word, scores `[:, 0]`, from wrong ones `[:, 1:]` with the ids `[k, w]`.

    Negative sampling (arXiv:1310.4546, eq. 4), noise-contrastive estimation (Mnih and Kavukcuoglu 2013, eq. 8), the
    ranking hinge of Collobert and Weston (2008, sec. 3) or the cross-entropy of the right one (Qiu et al.,
    arXiv:2003.08271, eq. 4).
    """
    there = wrong >= 0
    if contrast.loss == "hinge":
        return ((1 - scores[:, :1] + scores[:, 1:]).clamp(min=0) * there).sum(1)
    if contrast.loss == "softmax":
        wrong_ones = scores[:, 1:].masked_fill(~there, float("-inf"))
        return torch.cat([scores[:, :1], wrong_ones], dim=1).logsumexp(1) - scores[:, 0]
    if contrast.log_noise_prob is not None:
        ids = torch.cat([right[:, None], wrong.clamp(min=0)], dim=1)
        draws = math.log(wrong.shape[1])
        scores = scores - draws - contrast.log_noise_prob[ids]
    return -logsigmoid(scores[:, 0]) - (logsigmoid(-scores[:, 1:]) * there).sum(1)


def glove_loss(scores: Tensor, seen: Tensor, count: CooccurrenceTarget) -> Tensor:
    """GloVe's weighted square `[k]` of the distance to the logarithm of a count (Pennington et al. 2014, eq. 8-9)."""
    share = (seen / count.x_max).clamp(max=1.0) ** count.alpha
    return share * (scores - seen.clamp(min=1e-12).log()) ** 2


def total_loss(
    answers: Sequence[Answer], shares: Mapping[str, float | Tensor] | None = None, consume: bool = False
) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted sum that is trained, and each question's own mean loss in nats; where nothing is asked it is 0.

    The questions of a part of a batch count by their `shares` of the whole one's answers; `consume` as in `losses`.
    """
    terms = {a.target.name: a.mean(consume) for a in answers}
    assert len(terms) == len(answers), "two questions of one example share a name"
    if shares:
        terms = {name: shares[name] * mean for name, mean in terms.items()}
    if not answers:
        return torch.zeros(()), terms
    first, *others = (a.target.weight * terms[a.target.name] for a in answers)
    return sum(others, first), terms
