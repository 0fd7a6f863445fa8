"""A learning-rate schedule that moves on with every part of a batch."""

from dataclasses import fields

from torch import Tensor

from playground.batch import Batch
from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.training.lr_schedule import lr_multiplier_of
from playground.training.train_state import TrainState

PARTS = 4


class ScheduledByParts(TrainState):
    """A learner whose schedule counts the parts of a step as steps."""

    def learn(
        self, batch: Batch, falling: bool = True, share: float | None = None
    ) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        parts = self.step * self.entry.recipe.grad_accum_steps
        return super().learn(batch, falling, lr_multiplier_of(self.entry, parts, falling) if share is None else share)


def scheduled_by_parts(learner: TrainState) -> TrainState:
    """The same learner with such a schedule."""
    return ScheduledByParts(**{field.name: getattr(learner, field.name) for field in fields(learner)})


def held_out_loss(suspect: Suspect) -> float:
    """The held-out loss at the end."""
    return suspect.held_out_loss


def rate_of_the_step(suspect: Suspect) -> bool:
    """Whether the last step had the learning rate that the schedule has for it."""
    learner = suspect.learner
    group = learner.optimisers[0].param_groups[0]
    return abs(group["lr"] / group["full_rate"] - lr_multiplier_of(learner.entry, learner.step - 1)) < 1e-6


SCHEDULE_IN_PARTS = Fault(
    name="a learning-rate schedule that counts the parts of a batch",
    group="Training loop",
    symptom="The loss falls as usual at first and stops long before the end of the training.",
    explanation="The scheduler was called after each part of an accumulated batch, so warm-up and decay were over "
    "after a quarter of the steps. It moves once for each step of the optimiser.",
    repository="Lightning-AI/pytorch-lightning",
    thread="https://github.com/Lightning-AI/pytorch-lightning/issues/1476",
    law="The schedule moves by one for each step of the optimiser.",
    shows="held-out loss in nats",
    figure=held_out_loss,
    holds=rate_of_the_step,
    change_learner=scheduled_by_parts,
    settings=f"batch_size=16, grad_accum_steps={PARTS}",
)
