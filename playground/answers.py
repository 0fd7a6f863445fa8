"""Targets about a batch and the kinds of answers: a kind knows its scores, its loss and its words on screen.

A new kind of answer is one subclass of `AnswerKind`; nothing else in the project asks for the class of a kind.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cosine_similarity,
    cross_entropy,
    layer_norm,
    logsigmoid,
    mse_loss,
    smooth_l1_loss,
)

from playground.batch import Batch, is_all_true, position_of
from playground.inplace_cross_entropy import inplace_cross_entropy


@dataclass(frozen=True)
class Target:
    """One target to a stream: labels `[b, n]` of some kind, which of them are scored, with what weight in the loss.

    The loss is the mean over the scored answers, or over the positions `mean_over` `[b, n]`, of which those without a
    scored answer cost 0. `loss_weights` `[b, n]` are what each answer counts in it.

    `origin` is the position in the text that holds the answer (-1: none, as for a label). `copying` allows the input to
    show the answer because finding its position is the task (denoising). `reads` `[b, n, 2]` are the two positions
    whose states make an answer where that is not the position itself. `known` are the `loss_positions`, computed once
    for a whole block of steps; they hold only for the very tensor `loss_mask`.
    """

    name: str
    kind: "AnswerKind"
    stream: Literal["inputs", "query", "decoder"]
    labels: Tensor
    loss_mask: Tensor
    origin: Tensor
    weight: float = 1.0
    copying: bool = False
    reads: Tensor | None = None
    loss_weights: Tensor | None = None
    mean_over: Tensor | None = None
    known: "LossPositions | None" = field(default=None, repr=False, compare=False)

    @property
    def at_decoder(self) -> bool:
        return self.stream == "decoder"

    @property
    def at_query(self) -> bool:
        return self.stream == "query"

    @cached_property
    def loss_positions(self) -> "LossPositions":
        """The scored positions; synchronises with the GPU unless they are known."""
        if self.known is not None and self.known.loss_mask is self.loss_mask:
            return self.known
        if is_all_true(self.loss_mask):
            rows, width = self.loss_mask.shape
            there = torch.arange(rows * width, device=self.loss_mask.device)
            return LossPositions(there // max(1, width), there % max(1, width), self.loss_mask, (width,) * rows)
        rows, positions = self.loss_mask.nonzero(as_tuple=True)
        return LossPositions(rows, positions, self.loss_mask)

    @property
    def total(self) -> int:
        """How many positions its loss is a mean over; synchronises with the GPU unless known."""
        return len(self.loss_positions.rows) if self.mean_over is None else int(self.mean_over.sum())

    def scored(self, values: Tensor) -> Tensor:
        """Values `[b, n, ...]` at the scored positions, `[k, ...]`."""
        return values[self.loss_positions.rows, self.loss_positions.positions]


@dataclass(frozen=True)
class LossPositions:
    """The row and the position of each scored answer `[k]` of a `loss_mask` `[b, n]`; `known` counts them by row."""

    rows: Tensor
    positions: Tensor
    loss_mask: Tensor
    known: tuple[int, ...] | None = None

    @cached_property
    def per_row(self) -> tuple[int, ...]:
        """The number of answers of each row; synchronises with the GPU unless known."""
        return tuple(self.loss_mask.sum(1).tolist()) if self.known is None else self.known

    @cached_property
    def most_per_row(self) -> int:
        return max(self.per_row, default=0)


@dataclass(frozen=True)
class Answer:
    """A model's scores at the k scored positions of a target."""

    target: Target
    rows: Tensor
    positions: Tensor
    scores: Tensor  # `[k, classes]`; `[k, 1]` for yes or no and for a count; the true word before its negatives
    labels: Tensor  # `[k]`, or `[k, classes]` where they are probabilities; for vectors both are `[k, d]`

    def losses(self, consume: bool = False) -> Tensor:
        """The loss of every scored answer in the unit of its kind, `[k]`.

        With `consume` the memory of the scores may be overwritten: for training, which does not read them afterwards.
        """
        return self.target.kind.losses(self, consume)

    def weighted_losses(self, consume: bool = False) -> Tensor:
        """The losses times what each answer counts, `[k]`."""
        weights = self.target.loss_weights
        return self.losses(consume) if weights is None else self.losses(consume) * self.at(weights)

    def mean(self, consume: bool = False) -> Tensor:
        """The mean over all scored answers of the batch, or over the target's `mean_over`; 0 without scored answers."""
        if not len(self.labels):
            return self.scores.sum() * 0.0
        losses, over = self.weighted_losses(consume), self.target.mean_over
        return losses.mean() if over is None else losses.sum() / over.sum()

    def row_means(self) -> Tensor:
        """The mean loss of each row of the batch, `[b]`; 0 where it has none."""
        over = self.target.loss_mask if self.target.mean_over is None else self.target.mean_over
        losses = self.weighted_losses()
        return losses.new_zeros(len(over)).index_add(0, self.rows, losses) / over.sum(1).clamp(min=1)

    def right(self) -> Tensor | None:
        """Which answers are right, `[k]` of booleans; None where the target is a number or a distribution."""
        return self.target.kind.right(self)

    def at(self, values: Tensor) -> Tensor:
        return values[self.rows, self.positions]


def total_loss(
    answers: Sequence[Answer], shares: Mapping[str, float] | None = None, consume: bool = False
) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted sum that is trained, and each target's own mean loss; without targets it is 0.

    The targets of a part of a batch count by their `shares` of the whole batch's answers; `consume` as in `losses`.
    """
    terms = {a.target.name: a.mean(consume) for a in answers}
    assert len(terms) == len(answers), "two targets of one batch share a name"
    if shares:
        terms = {name: shares[name] * mean for name, mean in terms.items()}
    if not answers:
        return torch.zeros(()), terms
    first, *others = (a.target.weight * terms[a.target.name] for a in answers)
    return sum(others, first), terms


Ranking = tuple[str, tuple[tuple[str, float], ...], float]
"""The true answer, the likeliest answers with their probabilities, and the probability of the true one."""


class StatesAndScores(Protocol):
    """What a kind of answer needs of one pass of a model over `batch` and its auxiliary batches, its parts."""

    batch: Batch

    def states(self, part: Batch, stream: str) -> Tensor: ...

    def states_ahead(self, part: Batch, ahead: int) -> Tensor: ...

    def score(self, part: Batch, hidden: Tensor, head: str) -> Tensor: ...

    def score_candidates(self, part: Batch, hidden: Tensor, words: Tensor) -> Tensor: ...

    def log_counts(self, part: Batch, hidden: Tensor, words: Tensor) -> Tensor: ...

    def teacher_outputs(self, part: Batch) -> list[Tensor]: ...


class AnswerKind:
    """What an answer is; by default one of several classes, trained by cross-entropy.

    `head` names the head of the model (empty: none), `label` the label that it predicts (else empty) and `classes` the
    label's names; `switch` is the field of `Architecture` that adds the part it needs.
    """

    head: str = "vocabulary"
    label: str = ""
    classes: tuple[str, ...] = ()
    switch: ClassVar[str] = ""
    unit: str = "nats"  # of its loss
    phrase: ClassVar[str] = ""  # what the model predicts, for a caption
    names_words: ClassVar[bool] = False  # labels are token ids
    plain: ClassVar[bool] = True  # the scores of all classes follow from one state, and the loss from these scores
    always_known: ClassVar[bool] = False  # a label is right also where it is not scored
    ahead: int = 0  # how many words after the next one the answer is, by a layer of its own
    sequential: bool = False  # that layer has also read the words in between
    whole_span: ClassVar[bool] = False  # the answer is all selected tokens of the row together
    gauged: ClassVar[bool] = False  # it has gauges
    measure: ClassVar[str] = "probability"  # what a prediction gives each answer
    compares_rows: ClassVar[bool] = False  # the loss of a row depends on the other rows of the batch
    steps_at_once: ClassVar[int] = 256  # steps whose batches may be drawn in one call

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Scores `[k, classes]` and labels from the states `[k, d]` of the scored positions."""
        return model.score(part, hidden, self.head), target.scored(target.labels)

    def losses(self, answer: Answer, consume: bool) -> Tensor:
        if consume and answer.labels.dim() == 1 and len(answer.labels):
            return inplace_cross_entropy(answer.scores, answer.labels)
        return cross_entropy(answer.scores, answer.labels, reduction="none")

    def right(self, answer: Answer) -> Tensor | None:
        return answer.scores.argmax(1) == answer.labels

    def gauges(self, answers: Sequence[Answer]) -> dict[str, float]:
        """What is measured on all answers of an evaluation besides their loss, by name."""
        return {}

    def options(self, batch: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
        """The names of the scores of the k-th answer, and the number of the true one."""
        return self.classes or batch.tokens.vocabulary, int(answer.labels[k])

    def prediction(self, batch: Batch, answer: Answer, k: int, most: int) -> Ranking:
        names, right = self.options(batch, answer, k)
        shares = answer.scores[k].softmax(-1)
        best = shares.topk(min(most, len(shares)))
        top = tuple((names[i], float(p)) for i, p in zip(best.indices.tolist(), best.values, strict=True))
        return names[right], top, float(shares[right])

    def text(self, batch: Batch, label: int, row: int) -> str:
        return (self.classes or batch.tokens.vocabulary)[label]

    def describe(self) -> str:
        """What the model predicts, for a caption."""
        return self.phrase

    def describe_samples(self, row: int) -> str:
        """What was sampled for the answers of a row, as a sentence; empty where nothing was."""
        return ""


@dataclass(frozen=True)
class Word(AnswerKind):
    """One token of the vocabulary."""

    phrase = "the token"
    names_words = always_known = True


@dataclass(frozen=True)
class WordAhead(Word):
    """A token `ahead` positions after the next one (arXiv:2404.19737, sec. 2; DeepSeek-V3, arXiv:2412.19437, sec. 2.2).

    Its layer reads the trunk; in the `sequential` form the states of the layer before and one more token.
    """

    ahead: int
    sequential: bool = False
    plain = False

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        states = target.scored(model.states_ahead(part, self.ahead))
        return model.score(part, states, self.head), target.scored(target.labels)

    @property
    def name(self) -> str:
        return f"{('2nd', '3rd', '4th')[self.ahead - 1]} next word"

    def describe(self) -> str:
        return f"the {self.name}"


@dataclass(frozen=True)
class SpanBoundary(Word):
    """A token of a hidden span from the two tokens around the span (SpanBERT, arXiv:1907.10529, sec. 3.2)."""

    switch = "sbo_head"
    phrase = "the token from the two ends of its span"


@dataclass(frozen=True)
class Replaced(AnswerKind):
    """Whether a token was replaced (1) or is the original (0), by binary cross-entropy (ELECTRA, arXiv:2003.10555)."""

    head = switch = "rtd_head"
    phrase = "original (o) or replaced (r)"
    always_known = True

    def losses(self, answer: Answer, consume: bool) -> Tensor:
        return binary_cross_entropy_with_logits(answer.scores[:, 0], answer.labels.float(), reduction="none")

    def right(self, answer: Answer) -> Tensor:
        return (answer.scores[:, 0] > 0) == answer.labels.bool()

    def prediction(self, batch: Batch, answer: Answer, k: int, most: int) -> Ranking:
        label, share = int(answer.labels[k]), float(answer.scores[k, 0].sigmoid())
        top = sorted((("replaced", share), ("original", 1 - share)), key=lambda pair: -pair[1])
        return "replaced" if label else "original", tuple(top), share if label else 1 - share

    def text(self, batch: Batch, label: int, row: int) -> str:
        return "or"[label]


@dataclass(frozen=True)
class Label(AnswerKind):
    """One of the `classes` of a label, from one position or from the first positions of two texts."""

    label: str
    classes: tuple[str, ...]

    @property
    def head(self) -> str:
        return f"label:{self.label}"

    def describe(self) -> str:
        some = [*self.classes[:4], *(["..."] if len(self.classes) > 4 else [])]
        return f"the label ({', '.join(some[:-1])} or {some[-1]})"


@dataclass(frozen=True, kw_only=True)
class SoftTargets(Label):
    """What the head of the label `teacher` predicts at `positions` `[b, n]` of the whole text (arXiv:1809.08370)."""

    teacher: str
    positions: Tensor
    plain = False

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        position = position_of(model.batch.inputs, model.batch.tokens.ids.shape[1])
        rows = target.loss_positions.rows
        whole = model.states(model.batch, "inputs")[rows, position[rows, target.scored(self.positions)]]
        taught = model.score(part, whole, Label(self.teacher, self.classes).head)
        return model.score(part, hidden, self.head), taught.detach().softmax(-1)

    def right(self, answer: Answer) -> None:
        return None

    def options(self, batch: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
        return self.classes, int(answer.labels[k].argmax())

    def text(self, batch: Batch, label: int, row: int) -> str:
        return "taught"


@dataclass(frozen=True)
class InBatchContrast(AnswerKind):
    """Which row's n-gram, read alone as an auxiliary batch, is missing here (InfoWord, arXiv:1910.08350, sec. 4)."""

    head = ""
    phrase = "which n-gram of the batch is missing"
    plain = False
    whole_span = compares_rows = True

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Each row's state against every row's n-gram, `[k, k]`; rows with the same target are no negatives."""
        rows, group = target.loss_positions.rows, target.scored(target.labels)
        other = model.states(next(e for e in part.auxiliary if not e.targets), "inputs")[rows, 0]
        own = torch.arange(len(rows), device=rows.device)
        twin = (group[:, None] == group) & (own[:, None] != own)
        return (hidden @ other.T).masked_fill(twin, float("-inf")), own

    def options(self, batch: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
        return tuple(self.text(batch, 0, row) for row in answer.rows.tolist()), int(answer.labels[k])

    def text(self, batch: Batch, label: int, row: int) -> str:
        return " ".join(batch.tokens.vocabulary[i] for i in batch.tokens.ids[row][batch.selected[row]].tolist())


def sampling_unit(loss: str) -> str:
    """The unit of a loss with negatives: a hinge is a difference of scores, all others are log-probabilities."""
    return "logits" if loss == "hinge" else "nats"


@dataclass(frozen=True)
class NegativeSampling(Word):
    """A token against sampled negatives `[b, n, k]` (-1: none).

    "sampled": yes or no for each (negative sampling, arXiv:1310.4546, eq. 4); "nce": the same less the log-probability
    `log_noise_prob` `[v]` of each word as noise (Mnih and Kavukcuoglu 2013, eq. 8); "hinge": the true word must score
    1 more than the negative (Collobert and Weston 2008, sec. 3); "softmax": cross-entropy of the true word among them
    all (Qiu et al., arXiv:2003.08271, eq. 4).
    """

    negatives: Tensor
    loss: Literal["sampled", "nce", "hinge", "softmax"] = "sampled"
    log_noise_prob: Tensor | None = None
    plain = False
    steps_at_once = 32

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        labels, wrong = target.scored(target.labels), target.scored(self.negatives).clamp(min=0)
        return model.score_candidates(part, hidden, torch.cat([labels[:, None], wrong], dim=1)), labels

    def losses(self, answer: Answer, consume: bool) -> Tensor:
        scores, wrong = answer.scores, answer.at(self.negatives)
        there = wrong >= 0
        if self.loss == "hinge":
            return ((1 - scores[:, :1] + scores[:, 1:]).clamp(min=0) * there).sum(1)
        if self.loss == "softmax":
            wrong_ones = scores[:, 1:].masked_fill(~there, float("-inf"))
            return torch.cat([scores[:, :1], wrong_ones], dim=1).logsumexp(1) - scores[:, 0]
        if self.log_noise_prob is not None:
            ids = torch.cat([answer.labels[:, None], wrong.clamp(min=0)], dim=1)
            scores = scores - math.log(wrong.shape[1]) - self.log_noise_prob[ids]
        return -logsigmoid(scores[:, 0]) - (logsigmoid(-scores[:, 1:]) * there).sum(1)

    @property
    def unit(self) -> str:
        return sampling_unit(self.loss)

    def right(self, answer: Answer) -> Tensor:
        return ((answer.scores[:, :1] > answer.scores[:, 1:]) | (answer.at(self.negatives) < 0)).all(1)

    def options(self, batch: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
        drawn = self.negatives[answer.rows[k], answer.positions[k]].tolist()
        words = batch.tokens.vocabulary
        return tuple(words[i] if i >= 0 else "–" for i in (int(answer.labels[k]), *drawn)), 0

    def describe_samples(self, row: int) -> str:
        number = int((self.negatives[row] >= 0).sum())
        words = f"{number} negative{'' if number == 1 else 's'}"
        return f"{words} sampled from the word counts; the loss contrasts each true word with its own negatives."


@dataclass(frozen=True)
class CooccurrenceTarget(Word):
    """The logarithm of how often a pair co-occurs, `counts` `[b, n]` (GloVe, Pennington et al. 2014, eq. 8-9)."""

    counts: Tensor
    x_max: float = 100.0
    alpha: float = 0.75  # a pair weighs (count / x_max) ** alpha, at most 1
    switch = "counts"
    unit = "squared nats"  # of a difference of logarithms
    phrase = "how often two words co-occur"
    measure = "ratio"
    plain = False
    steps_at_once = 1  # pairs are counted over the rows of one batch

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        labels = target.scored(target.labels)
        return model.log_counts(part, hidden, labels[:, None]), labels

    def losses(self, answer: Answer, consume: bool) -> Tensor:
        seen = answer.at(self.counts)
        share = (seen / self.x_max).clamp(max=1.0) ** self.alpha
        return share * (answer.scores[:, 0] - seen.clamp(min=1e-12).log()) ** 2

    def right(self, answer: Answer) -> None:
        return None

    def prediction(self, batch: Batch, answer: Answer, k: int, most: int) -> Ranking:
        """The count, the predicted one, and the smaller as a share of the larger in place of a probability."""
        seen = float(self.counts[answer.rows[k], answer.positions[k]])
        found = math.exp(min(float(answer.scores[k, 0]), 50.0))
        return f"{seen:.2f} times", ((f"{found:.2f} times", 1.0),), min(seen, found) / max(seen, found)


EFFECTIVE_RANK = "effective rank of the targets"
"""The gauge of collapse."""


def effective_rank(states: Tensor) -> float:
    """The exponential of the entropy of the singular values of some states `[k, d]` (RankMe, arXiv:2210.02885, eq. 1).

    1 where all states are multiples of one, and at most the smaller of k and d.
    """
    values = torch.linalg.svdvals(states.double())
    if not values.numel() or not values.sum():
        return 1.0
    shares = values / values.sum()
    return float(torch.special.entr(shares).sum().exp())


@dataclass(frozen=True)
class TeacherState(AnswerKind):
    """The state of a word in the teacher, which reads the whole text (data2vec, arXiv:2202.03555, sec. 3.3).

    It is the mean over the top `average_top_k_layers` of what their MLPs give before it is added, each scaled to mean
    0 and variance 1 over its width. The loss is a sum over the width: smooth L1 (`loss_beta` above 0), or the squared
    error over the root of the width (`loss_beta` 0; released code).
    """

    average_top_k_layers: int = 10
    loss_beta: float = 4.0
    head = switch = "regression_head"
    phrase = "the teacher's state"
    measure = "cosine"
    plain = False
    gauged = True

    @property
    def unit(self) -> str:
        return distance_unit(self.loss_beta)

    def scores(self, model: StatesAndScores, part: Batch, target: Target, hidden: Tensor) -> tuple[Tensor, Tensor]:
        layers = model.teacher_outputs(part)[-self.average_top_k_layers :]
        states = [layer_norm(target.scored(layer).float(), layer.shape[-1:]) for layer in layers]  # [k, d]
        return model.score(part, hidden, self.head), torch.stack(states).mean(0)

    def losses(self, answer: Answer, consume: bool) -> Tensor:
        if not self.loss_beta:
            errors = mse_loss(answer.scores, answer.labels, reduction="none")
            return errors.sum(1) / math.sqrt(errors.shape[1])
        return smooth_l1_loss(answer.scores, answer.labels, reduction="none", beta=self.loss_beta).sum(1)

    def right(self, answer: Answer) -> None:
        return None

    def gauges(self, answers: Sequence[Answer]) -> dict[str, float]:
        return {EFFECTIVE_RANK: effective_rank(torch.cat([answer.labels for answer in answers]))}

    def options(self, batch: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
        ids = batch.tokens.ids[answer.rows, answer.at(answer.target.origin)].tolist()
        return tuple(self.text(batch, label, 0) for label in ids), k

    def prediction(self, batch: Batch, answer: Answer, k: int, most: int) -> Ranking:
        """The scored states by their cosine with the predicted one (at least 0) instead of probabilities."""
        names, right = self.options(batch, answer, k)
        cosines = cosine_similarity(answer.scores[k : k + 1], answer.labels).clamp(min=0.0)
        best = cosines.topk(min(most, len(cosines)))
        top = tuple((names[i], float(c)) for i, c in zip(best.indices.tolist(), best.values, strict=True))
        return names[right], top, float(cosines[right])

    def text(self, batch: Batch, label: int, row: int) -> str:
        return f"h({batch.tokens.vocabulary[label]})"

    def describe(self) -> str:
        return f"the teacher's state h, the mean of its top layers (at most {self.average_top_k_layers}),"


def distance_unit(loss_beta: float) -> str:
    """The unit of the loss of a vector."""
    return "smooth L1" if loss_beta else "squared error"
