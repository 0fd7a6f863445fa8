"""A loss that is averaged over all positions, also over those that are not scored."""

from dataclasses import replace

import torch

from playground.answers import total_loss
from playground.batch import Batch
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.models import LanguageModel
from playground.training.accumulation import BatchLoss, losses
from playground.training.train_state import TrainState


def mean_over_all(model: LanguageModel, batch: Batch, accumulate: int, precision: str) -> BatchLoss:
    """The gradient of the sum of the losses, divided by the number of all positions."""
    positions = int(batch.inputs.valid.sum())
    shares = {target.name: len(target.loss_positions.rows) / positions for target in batch.targets}
    loss, terms, states = losses(model, batch, precision, shares)
    loss.backward()
    return BatchLoss(loss.detach(), {name: term.detach() for name, term in terms.items()}, states)


def averaging_over_all(learner: TrainState) -> TrainState:
    """The learner with this gradient."""
    return replace(learner, gradient=mean_over_all)


def train_loss(suspect: Suspect) -> float:
    """The training loss at the end."""
    return suspect.train_loss


def is_mean_of_the_scored(suspect: Suspect) -> bool:
    """Whether the loss of a batch that trains is the mean over its scored positions."""
    learner, batch = suspect.learner, suspect.batch(16)
    loss = learner.gradient(learner.model, batch, 1, "float32").loss
    learner.model.zero_grad(set_to_none=True)
    with torch.no_grad():
        right = total_loss(learner.model(batch))[0]
    return bool((loss - right).abs() < 0.001 * right)


MEAN_OVER_ALL_POSITIONS = Fault(
    name="a loss that is averaged over all positions",
    group="Loss",
    symptom="The training loss is far below the held-out loss from the first step on.",
    explanation="The losses were multiplied by the loss mask and then averaged, so the zeros of the positions that are "
    "not scored were in the mean. The sum must be divided by the number of scored positions.",
    repository="dhlee347/pytorchic-bert",
    thread="https://github.com/dhlee347/pytorchic-bert/issues/24",
    law="The loss is the mean over the scored positions.",
    shows="training loss in nats",
    figure=train_loss,
    holds=is_mean_of_the_scored,
    change_learner=averaging_over_all,
)
