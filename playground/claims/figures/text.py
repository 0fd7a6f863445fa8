"""Batches that the objective of an arm makes, of a sentence or of held-out text."""

import torch

from playground.analysis.subject import Subject
from playground.answers import Answer
from playground.batch import Batch
from playground.claims import Arm, Lab
from playground.objectives.objective import PlanOverrides


def example(lab: Lab, arm: "Arm", seed: int, overrides: PlanOverrides | None = None, words: int = 4) -> Batch:
    """The first words of a held-out sentence as one row, with plans by hand."""
    subject = lab.subject(arm, seed)
    sentence = subject.sentence(" ".join(subject.tokenizer.words[k] for k in subject.sentence().ids[0, :words]))
    return subject.objective.steps(sentence, subject.rng("example"), overrides)[-1].batch


def held_out(lab: Lab, arm: "Arm", seed: int) -> Batch:
    """The held-out rows as the objective makes them into a batch."""
    subject = lab.subject(arm, seed)
    return subject.objective.batch(subject.held_out, subject.rng("claim"))


@torch.no_grad()
def answered(subject: Subject, batch: Batch) -> Answer:
    """What the model says to the last target of a batch."""
    return subject.model.eval()(batch)[-1]
