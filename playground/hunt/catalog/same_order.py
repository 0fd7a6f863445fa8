"""Texts that come in the same order in every epoch."""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from playground.batch import Batch, Tokens
from playground.corpora.corpus import pick
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.training.train_state import TrainState


@dataclass
class SameOrder(TrainState):
    """Reads the texts of the first epoch in every other one."""

    first: Tokens | None = None

    def batch(self, tokens: Tokens, *path: object) -> Batch:
        match path, tokens.epoch:
            case ("block", int(number)), Tensor() as epoch:
                self.first = self.first or pick(tokens, (epoch == 0).nonzero()[:, 0])
                rows = torch.arange(len(epoch), device=self.device) + number * len(epoch)
                tokens = pick(self.first, rows % len(self.first.ids), epoch=epoch)
        return super().batch(tokens, *path)


def without_set_epoch(learner: TrainState) -> TrainState:
    """The same learner, whose sampler does not get the epoch."""
    return SameOrder(**{each.name: getattr(learner, each.name) for each in fields(learner)})


def steps_of_epoch(suspect: Suspect) -> int:
    """The number of steps of an epoch."""
    return len(suspect.sampler.windows.ids) // suspect.sampler.batch_size


def losses_again(suspect: Suspect) -> float:
    """The correlation of the changes of the loss from step to step with those of one epoch later."""
    losses = torch.tensor([point.loss for point in suspect.points if point.loss is not None])
    change, length = losses.diff(), steps_of_epoch(suspect)
    return float(torch.corrcoef(torch.stack([change[length:-length], change[2 * length :]]))[0, 1])


def has_another_order(suspect: Suspect) -> bool:
    """Whether the texts of two epochs come in another order."""
    number = steps_of_epoch(suspect) * suspect.sampler.batch_size
    ids = suspect.learner.batch(suspect.sampler.between(0, 2 * steps_of_epoch(suspect)), "block", 0).tokens.example_ids
    return ids is not None and not torch.equal(ids[:number], ids[number:])


SAME_ORDER = Fault(
    name="the same order of texts in every epoch",
    group="Data",
    symptom="The curve of the training loss has the same bumps again and again.",
    explanation="The sampler draws its order from the number of the epoch, which was never set, so each epoch has the "
    "order of the first one. `set_epoch` must be called before each epoch.",
    repository="pytorch/pytorch",
    thread="https://github.com/pytorch/pytorch/issues/31771",
    law="The texts come in another order in each epoch.",
    shows="the correlation of the changes of the training loss with those of the epoch before",
    figure=losses_again,
    holds=has_another_order,
    change_learner=without_set_epoch,
    entry="LM",
    settings="batch_size=48",
    corpus="clauses",
    steps=174,
)
