"""Which words a compressed model lost: the held-out predictions of pre-training before and after, word by word."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.answers import Answer
from playground.compression.classifier import Classifier
from playground.compression.method import TaskData
from playground.errors import UserError
from playground.finetuning.comparing.significance import critical
from playground.finetuning.run.base import replace_model

FEWEST, MOST = 3, 12
"""How often held-out text must ask for a word before its losses are compared, and how many words are kept."""


@dataclass(frozen=True)
class LostWord:
    """A word, how often held-out text asks for it, and its mean loss before and after.

    `standard_error` is that of the rise; the unit is that of the objective, usually nats. A word without a
    vector has no losses; it is counted wherever it stands.
    """

    word: str
    asked: int
    before: float | None = None
    after: float | None = None
    standard_error: float | None = None


@dataclass(frozen=True)
class LostWords:
    """How many predictions became wrong or right, how many words were compared, and those whose loss rose, the first.

    A `note` says what was compared in another way or not at all; then there are no predictions.
    """

    predictions: int = 0
    became_wrong: int = 0
    became_right: int = 0
    compared: int = 0
    rose: int = 0
    words: tuple[LostWord, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class HeldOutAnswers:
    """A model's pre-training loss, and of each predicted word `[k]` its id, its loss and whether it was right."""

    loss: float
    ids: Tensor
    losses: Tensor
    right: Tensor


def held_out_answers(classifier: Classifier, data: TaskData) -> HeldOutAnswers | None:
    """The base's objective on held-out text; None where the model has other words or another structure."""
    base, model = data.base, classifier.model
    parts = [(torch.zeros(0, dtype=torch.long), torch.zeros(0), torch.zeros(0, dtype=torch.bool))]

    def keep(answer: Answer) -> None:
        if answer.target.kind.names_words:
            right = answer.right()
            never = torch.zeros_like(answer.labels, dtype=torch.bool)
            parts.append((answer.labels, answer.losses(), never if right is None else right))

    if classifier.kept_ids is None and model.shape.kind == base.learner.model.shape.kind:
        with suppress(UserError):
            loss = replace_model(base.learner, model).pretraining_loss(base.measured, keep)
            return HeldOutAnswers(loss, *map(torch.cat, zip(*parts, strict=True)))
    return None


def lost_words(
    before: HeldOutAnswers | None, after: HeldOutAnswers | None, classifier: Classifier, data: TaskData
) -> LostWords:
    """What became of the words; both models are asked for the same ones."""
    if classifier.kept_ids is not None:
        return _without_vector(classifier.kept_ids, data)
    if before is None or not len(before.ids):
        return LostWords(note="The uncompressed model has no head with which it can still predict words.")
    if after is None:
        return LostWords(note="This model has another structure than the base, so it predicts no words.")
    wrong, right = before.right & ~after.right, after.right & ~before.right
    ids, counts = before.ids[data.base.measured.specials.is_word(before.ids)].unique(return_counts=True)
    often = ids[counts >= FEWEST].tolist()
    rose = _rises(before, after, often, data.base.measured.vocabulary)
    return LostWords(len(before.ids), int(wrong.sum()), int(right.sum()), len(often), len(rose), rose[:MOST])


def _rises(
    before: HeldOutAnswers, after: HeldOutAnswers, ids: Sequence[int], vocabulary: Sequence[str]
) -> tuple[LostWord, ...]:
    """Those of some words whose loss rose with a 95 % interval above 0, the largest rise first."""
    rose = list[tuple[float, LostWord]]()
    for word in ids:
        one, other = (each.losses[before.ids == word].double() for each in (before, after))
        rise, error = float((other - one).mean()), float((other - one).std() / len(one) ** 0.5)
        if rise > critical(len(one)) * error:
            lost = LostWord(vocabulary[word], len(one), float(one.mean()), float(other.mean()), error)
            rose.append((rise, lost))
    return tuple(lost for _, lost in sorted(rose, key=lambda pair: -pair[0]))


def _without_vector(kept: Tensor, data: TaskData) -> LostWords:
    """The words that have no vector any more, the most frequent in held-out text first."""
    tokens = data.base.measured
    counts = torch.bincount(tokens.ids[tokens.valid], minlength=tokens.specials.size)
    counts[~tokens.specials.is_word(torch.arange(len(counts)))] = 0
    everything, counts[kept] = int(counts.sum()), 0
    lost = [k for k in counts.argsort(descending=True, stable=True)[:MOST].tolist() if counts[k]]
    words = tuple(LostWord(tokens.vocabulary[k], int(counts[k])) for k in lost)
    gone, share = len(counts) - len(kept), int(counts.sum()) / max(1, everything)
    note = f"{gone} words have no vector any more; they are {share:.1%} of the words of held-out text."
    return LostWords(words=words, note=note)
