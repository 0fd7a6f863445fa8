"""An evaluation that counts a tie as right."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.answers import Answer, Word
from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.ask import AskMasked
from playground.zoo import Entry


class WordOrTie(Word):
    """A word that is right where no other one has a higher score."""

    def right(self, answer: Answer) -> Tensor:
        return answer.scores.gather(1, answer.labels[:, None])[:, 0] == answer.scores.max(1).values


@dataclass(frozen=True)
class AskMaskedOrTie(AskMasked):
    """The original word at every selected position, right also in a tie."""

    def build(self, batch: Batch) -> Batch:
        asked = super().build(batch)
        return replace(asked, targets=tuple(replace(target, kind=WordOrTie()) for target in asked.targets))


def counting_ties(entry: Entry) -> Entry:
    """The same objective, whose accuracy counts ties as right."""
    return exchange_stage(entry, AskMasked, lambda _: AskMaskedOrTie())


@torch.no_grad()
def accuracy_of_equal_scores(suspect: Suspect) -> float:
    """The share of answers that count as right when every word has the same score."""
    answer = suspect.learner.model.eval()(suspect.batch(32))[0]
    right = replace(answer, scores=torch.zeros_like(answer.scores)).right()
    assert right is not None
    return float(right.float().mean())


TIES_ARE_RIGHT = Fault(
    name="ties that are counted as right",
    group="Evaluation",
    symptom="As a check, all scores of the trained model are set to 0. Its accuracy rises to 100 %.",
    explanation="An answer counts as right if its score equals the highest one. With equal scores that is true of "
    "every answer, so a model that knows nothing is always right. The label must be the one answer that is chosen.",
    repository="stanford-crfm/helm",
    thread="https://github.com/stanford-crfm/helm/issues/737",
    law="A model that prefers no answer is right no more often than by chance.",
    shows="the accuracy when all scores are equal",
    figure=accuracy_of_equal_scores,
    holds=lambda suspect: accuracy_of_equal_scores(suspect) < 0.5,
    change_entry=counting_ties,
)
