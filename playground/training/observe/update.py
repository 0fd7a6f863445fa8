"""Inside one update: the coming optimiser step of a run, taken by a copy of its learner."""

from copy import deepcopy
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

import torch

from playground.analysis.predictions import ForwardTrace, read
from playground.answers import total_loss
from playground.batch import Batch
from playground.devices import on_cpu
from playground.objectives.arrange.mixture_part import MixturePart
from playground.objectives.steps import Step, acting_on, specimens
from playground.rng import generator
from playground.slicing import rows, split_rows, trimmed
from playground.trace.model_frames import FORWARD, UPDATE, as_data, numbers, with_numbers
from playground.trace.rebuild import record_of
from playground.training.data import BatchSampler, steps_together
from playground.training.grad_stats import Group, sizes
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class UpdateTrace:
    """One step in detail: the stages of one row of its batch, and model and total loss before and after.

    `share` is the factor of the learning rate, `learner` the copy after the step, `memory` the number of its positions
    that the row also attended to.
    """

    steps: tuple[Step, ...]
    row: int
    batch_size: int
    before: ForwardTrace
    after: ForwardTrace
    losses: tuple[float, float]
    groups: tuple[Group, ...]
    share: float
    learner: TrainState
    memory: int = 0

    @property
    def gradient(self) -> float:
        """The norm of the whole gradient before clipping."""
        return hypot(*(group.gradient for group in self.groups))


def look_inside(learner: TrainState, feed: BatchSampler, row: int = 0) -> UpdateTrace:
    """Take the coming step with a copy of the learner, which itself stays as it is."""
    copy = deepcopy(learner)
    steps, batch = coming(learner, feed)
    batch = learner.remembering(batch)
    memory = batch.inputs.mems[0].shape[1] if batch.inputs.mems else 0
    before = _own(read(copy.model, batch, row), memory)
    with sizes(copy.model) as groups:
        trained, loss, _, share = copy.learn(batch)
    after = _own(read(copy.model, batch, row), memory)
    with torch.no_grad():
        loss_after, _ = total_loss(copy.model(trained), consume=True)
    at = learner.step % (len(steps[-1].batch.tokens.ids) // feed.batch_size) * feed.batch_size + row
    shown = steps_of_row(steps, at, learner.device)
    losses = torch.stack((loss, loss_after)).tolist()
    return UpdateTrace(shown, row, feed.batch_size, before, after, tuple(losses), tuple(groups), share, copy, memory)


def steps_of_row(steps: tuple[Step, ...], row: int, device: torch.device) -> tuple[Step, ...]:
    """The stages that acted on one row of a block, with that row alone, on the CPU; of the plans only the drawn part.

    Where a batch is shared out, the last one has the rows of all, so it keeps the targets of this row.
    """
    acting = acting_on(steps, row)
    cut = [rows(step.batch, at, at + 1) for step, at in acting[:-1]]
    *before, last = on_cpu([*cut, rows(steps[-1].batch, row, row + 1)], device)
    if acting[-1][0].rows is not None:
        last = replace(
            last, targets=tuple(target for target in last.targets if bool(target.loss_mask.any())) or last.targets
        )
    batches = (*before, last)
    return tuple(
        replace(step, plan=_plan_of(step, row), batch=batch) for (step, _), batch in zip(acting, batches, strict=True)
    )


def _plan_of(step: Step, row: int) -> MixturePart | None:
    """The part of a mixture that was drawn for a row."""
    return MixturePart(step.plan.number[row : row + 1]) if step.part == -1 else None


def _own(seen: ForwardTrace, memory: int) -> ForwardTrace:
    """A forward pass with the attention weights of its own positions, without those of a memory before them."""
    return replace(seen, weights={name: weights[..., memory:] for name, weights in seen.weights.items()})


def coming(learner: TrainState, feed: BatchSampler) -> tuple[tuple[Step, ...], Batch]:
    """The stages of the block that holds the coming step (see `Prefetcher`), and the batch of that step."""
    objective, device = learner.objective, learner.device
    batches = specimens(objective, feed.evaluation(), generator(0, "asked", device=device))
    together = steps_together(objective, batches, feed)
    number, index = divmod(learner.step, together)
    path = (number,) if together == 1 else ("block", number)
    tokens = feed.between(number * together, (number + 1) * together)
    steps = objective.steps(tokens, generator(learner.seed, "corrupt", *path, device=device))
    batch = steps[-1].batch
    own = batch if together == 1 else trimmed(split_rows(batch, feed.batch_size)[index])
    return steps, feed.marked(own, learner.step)


def record(update: UpdateTrace, corpus: str) -> dict[str, Any]:
    """The frames of the update: one row of the batch from its text to the predictions after the step."""
    learner = update.learner
    about = {
        "title": f"Inside update {learner.step}",
        "subtitle": f"Row {update.row + 1} of the {update.batch_size} texts of this batch of {corpus}; "
        f"the model is the {learner.entry.name} of this run.",
        "source": learner.objective.source,
    }
    made = record_of(learner.objective, update.steps, learner.model.masked, about)
    values = numbers(made, update.before, f"{learner.entry.name} before step {learner.step}")
    values["groups"] = [vars(group) for group in update.groups]
    values["after"] = [as_data(guess) for guess in update.after.guesses]
    values["captions"] |= _captions(update)
    if update.memory:
        values["captions"]["forward"] += (
            f" What is missing to 100 % goes to the {update.memory} positions of the memory, which are not drawn."
        )
    return with_numbers(made, values, FORWARD | UPDATE)


def _captions(update: UpdateTrace) -> dict[str, str]:
    longest = max(update.groups, key=lambda g: g.gradient)
    furthest = max(update.groups, key=lambda g: g.share)
    clip = update.learner.entry.recipe.grad_clip
    clipped = f"; it is shortened to {clip:g} before the step" if clip and update.gradient > clip else ""
    pairs = list(zip(update.before.guesses, update.after.guesses, strict=True))
    unit = update.learner.objective.unit()
    nearer = sum(after.probability > before.probability for before, after in pairs)
    return {
        "gradient": f"The loss of the whole batch pulls hardest at: {longest.name}. All gradients together are "
        f"{update.gradient:.3g} long{clipped}.",
        "change": f"The optimiser moves every group a little, at {100 * update.share:.0f} % of the full learning rate. "
        f"It moves furthest in: {furthest.name}, by {100 * furthest.share:.2f} % of the length of its parameters.",
        "after": f"The same batch again after this one step: its loss goes from {update.losses[0]:.3f} to "
        f"{update.losses[1]:.3f} {unit}. In this row the true answer gained at {nearer} of {len(pairs)} positions.",
    }
