"""Gradient accumulation that averages the means of its parts, however many scored positions each has."""

from dataclasses import replace
from statistics import fmean

import torch
from torch import Tensor

from playground.batch import Batch
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.models import LanguageModel
from playground.training.accumulation import BatchLoss, in_parts, losses, summed
from playground.training.train_state import TrainState

PARTS, DRAWS = 8, 10


def mean_of_means(model: LanguageModel, batch: Batch, accumulate: int, precision: str) -> BatchLoss:
    """The gradient of the mean over the parts of their own mean losses."""
    parts, made = in_parts(batch, accumulate), list[BatchLoss]()
    for part in parts:
        shares = {target.name: 1 / len(parts) for target in part.targets}
        loss, terms, states = losses(model, part, precision, shares)
        loss.backward()
        made.append(BatchLoss(loss.detach(), {name: term.detach() for name, term in terms.items()}, states))
    return summed(made)


def without_counts(learner: TrainState) -> TrainState:
    """The learner with this gradient."""
    return replace(learner, gradient=mean_of_means)


def gradient_in(suspect: Suspect, parts: int, draw: int) -> Tensor:
    """The gradient of held-out rows with the gaps of a `draw`, in some number of parts, as one vector."""
    learner = suspect.learner
    learner.gradient(learner.model, suspect.batch(16, draw), parts, "float32")
    vector = torch.cat([each.grad.flatten() for each in learner.parameters if each.grad is not None])
    learner.model.zero_grad(set_to_none=True)
    return vector


def distance_to_one_part(suspect: Suspect) -> float:
    """How far the gradient in parts is from that of the whole batch, as a share of its length; a mean of some draws."""
    pairs = [(gradient_in(suspect, 1, draw), gradient_in(suspect, PARTS, draw)) for draw in range(DRAWS)]
    return fmean(float((parts - whole).norm() / whole.norm()) for whole, parts in pairs)


MEAN_OF_MEANS = Fault(
    name="gradient accumulation without token counts",
    group="Training loop",
    symptom="The same batch has another gradient when it is computed in several parts.",
    explanation="Each part was divided by its own number of scored positions and then by the number of parts, so a "
    "position in a part with few of them weighs more. The sum of the losses must be divided by the count of the batch.",
    repository="huggingface/transformers",
    thread="https://github.com/huggingface/transformers/issues/24725",
    law="The gradient of a batch does not depend on the number of parts in which it is computed.",
    shows="distance between the gradient in parts and at once, as a share of its length",
    figure=distance_to_one_part,
    holds=lambda suspect: distance_to_one_part(suspect) < 0.001,
    change_learner=without_counts,
    settings=f"batch_size=16, grad_accum_steps={PARTS}, selection=iid",
    steps=80,
)
