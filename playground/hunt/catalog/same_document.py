"""Random second texts that come from the document of the first one."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.arrange import ArrangePair
from playground.zoo import Entry


@dataclass(frozen=True)
class ArrangePairOfOneDocument(ArrangePair):
    """A text and a second one of the same document, whatever the coin says."""

    def _second(self, tokens: Tokens, number: Tensor) -> Tokens:
        neighbours = {**tokens.neighbours, "other": tokens.neighbours["apart"]}
        return super()._second(replace(tokens, neighbours=neighbours), number)


def from_one_document(entry: Entry) -> Entry:
    """The same objective with such pairs."""
    return exchange_stage(entry, ArrangePair, lambda stage: ArrangePairOfOneDocument(**vars(stage)))


def from_another_document(suspect: Suspect) -> float:
    """The share of the pairs called "other document" whose second text is of another document."""
    rows, batch = suspect.rows(64), suspect.batch(64)
    other, [target] = rows.neighbours["other"], batch.targets
    random = (target.labels[:, 0] == 2).nonzero()[:, 0].tolist()
    ends = [int(length) for length in batch.tokens.lengths]
    same = [
        torch.equal(batch.tokens.ids[row, ends[row] - size : ends[row]], other.ids[row, :size])
        for row in random
        for size in (int(other.lengths[row]),)
    ]
    return sum(same) / len(same)


SAME_DOCUMENT = Fault(
    name="random second texts from the same document",
    group="Data",
    symptom="The second text of a pair is about the people and things of the first one, whatever its label says.",
    explanation="Nothing kept the program from drawing the random second text from the document of the first one. "
    "A random text must come from another document.",
    repository="NVIDIA/DeepLearningExamples",
    thread="https://github.com/NVIDIA/DeepLearningExamples/issues/421",
    law="A random second text is of another document than the first.",
    shows="the share of random second texts that are of another document",
    figure=from_another_document,
    holds=lambda suspect: from_another_document(suspect) == 1,
    change_entry=from_one_document,
    entry="sentence distance",
    corpus="stories",
    steps=60,
)
