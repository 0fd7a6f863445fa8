"""Gradient clipping of gradients that are still scaled for half precision."""

from dataclasses import replace
from functools import partial

from torch.nn.utils import clip_grad_norm_, get_total_norm

from playground.batch import Batch
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.models import LanguageModel
from playground.training.accumulation import BatchLoss, Gradient, single_process
from playground.training.train_state import TrainState

LOSS_SCALE = 2.0**16


def clipped_while_scaled(
    model: LanguageModel, batch: Batch, accumulate: int, precision: str, grad_clip: float
) -> BatchLoss:
    """The gradient of the scaled loss, clipped and then unscaled."""
    made = single_process(model, batch, accumulate, precision)
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    for gradient in gradients:
        gradient.mul_(LOSS_SCALE)
    clip_grad_norm_(model.parameters(), grad_clip)
    for gradient in gradients:
        gradient.div_(LOSS_SCALE)
    return made


def clipping_first(learner: TrainState) -> TrainState:
    """The learner with this gradient."""
    return replace(learner, gradient=partial(clipped_while_scaled, grad_clip=learner.entry.recipe.grad_clip))


def gradient_norm(suspect: Suspect, gradient: Gradient | None = None) -> float:
    """The norm of the gradient of held-out rows, by the run's own `gradient` or another."""
    learner = suspect.learner
    (gradient or learner.gradient)(learner.model, suspect.batch(16), 1, "float32")
    norm = get_total_norm([each.grad for each in learner.parameters if each.grad is not None])
    learner.model.zero_grad(set_to_none=True)
    return float(norm)


def is_clipped_only_above_the_limit(suspect: Suspect) -> bool:
    """Whether the gradient is as long as it was, or as the limit."""
    limit = suspect.learner.entry.recipe.grad_clip
    found, right = (min(limit, gradient_norm(suspect, each)) for each in (None, single_process))
    return abs(found - right) < 0.001 * right


CLIPPED_BEFORE_UNSCALING = Fault(
    name="gradient clipping before unscaling",
    group="Training loop",
    symptom="The gradient is tiny, and its length is the same in every step.",
    explanation="In half precision the loss is multiplied by 65,536 before the backward pass. The gradient was clipped "
    "while it was still that large, so every one was cut to the limit and then divided. It must be unscaled first.",
    repository="Lightning-AI/pytorch-lightning",
    thread="https://github.com/Lightning-AI/pytorch-lightning/issues/9599",
    law="Clipping leaves a gradient as it is unless its norm is above the limit.",
    shows="norm of the gradient",
    figure=gradient_norm,
    holds=is_clipped_only_above_the_limit,
    change_learner=clipping_first,
    settings="batch_size=16, optimiser=adamw",
)
