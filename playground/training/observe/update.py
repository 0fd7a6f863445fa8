"""Inside one update: the coming optimiser step of a run, taken by a copy of its learner and looked into."""

from copy import deepcopy
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

import torch

from playground import leaks
from playground.analysis.predictions import ForwardTrace, read
from playground.batch import Batch
from playground.models.losses import total_loss
from playground.objectives.formula import written as formula
from playground.objectives.objective import Step
from playground.rng import generator
from playground.slicing import batches, rows, trimmed
from playground.trace import frames
from playground.trace.model_frames import FORWARD, UPDATE, numbers, told, with_numbers
from playground.trace.rebuild import spoken, terms
from playground.training.data import BatchSampler
from playground.training.grad_stats import Group, sizes
from playground.training.prefetch import steps_together
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class UpdateTrace:
    """One step, looked into: the stages of one row of its batch, and the model before and after.

    `losses` are the batch's total loss before and after; `share` is the part of the full learning rate that was used;
    `learner` is the copy, one step on.
    """

    steps: tuple[Step, ...]
    row: int
    batch: int
    before: ForwardTrace
    after: ForwardTrace
    losses: tuple[float, float]
    groups: tuple[Group, ...]
    share: float
    learner: TrainState

    @property
    def gradient(self) -> float:
        """The length of the whole gradient, before it is shortened."""
        return hypot(*(group.gradient for group in self.groups))


def look_inside(learner: TrainState, feed: BatchSampler, row: int = 0, falling: bool = True) -> UpdateTrace:
    """Take the learner's coming step with a copy; the learner itself, and so its run, stays as it is."""
    copy = deepcopy(learner)
    steps, example = coming(learner, feed)
    before = read(copy.model, example, row)
    with sizes(copy.model) as groups:
        trained, loss, _, share = copy.learn(example, falling)
    after = read(copy.model, example, row)
    with torch.no_grad():
        left, _ = total_loss(copy.model(trained), consume=True)
    place = learner.step % (len(steps[-1].example.tokens.ids) // feed.batch_size) * feed.batch_size + row
    shown = tuple(
        replace(step, plan=step.plan if step.part == -1 else None, example=rows(step.example, place, place + 1))
        for step in steps
    )
    return UpdateTrace(
        shown, row, feed.batch_size, before, after, (float(loss), float(left)), tuple(groups), share, copy
    )


def coming(learner: TrainState, feed: BatchSampler) -> tuple[tuple[Step, ...], Batch]:
    """The stages of the block that holds the coming step (see `Prefetcher`), and the batch of that step."""
    objective, device = learner.objective, learner.device
    asked = objective.specimens(feed.evaluation(), generator(0, "asked", device=device.type))
    together = steps_together(objective, asked, feed)
    number, place = divmod(learner.step, together)
    path = (number,) if together == 1 else ("block", number)
    tokens = feed.between(number * together, (number + 1) * together)
    steps = objective.steps(tokens, generator(learner.seed, "corrupt", *path, device=device.type))
    example = steps[-1].example
    return steps, example if together == 1 else trimmed(batches(example, feed.batch_size)[place])


def record(update: UpdateTrace, corpus: str) -> dict[str, Any]:
    """The frames of the update: one row of the batch from its text to the guesses after the step."""
    learner, example = update.learner, update.steps[-1].example
    objective = learner.objective
    about = {
        "title": f"Inside update {learner.step}",
        "subtitle": f"Row {update.row + 1} of the {update.batch} texts of this batch of {corpus}; "
        f"the model is the {learner.entry.name} of this run.",
        "formula": formula(spoken(objective, update.steps)),
        "source": objective.source,
        "loss": objective.loss,
        "terms": terms(objective, update.steps),
    }
    told_steps = [(s.verb, s.example) for s in update.steps if s.part == 0]
    made = frames.record(told_steps, leaks.check(example), about)
    seen = numbers(made, update.before, f"{learner.entry.name} before step {learner.step}")
    seen["groups"] = [vars(group) for group in update.groups]
    seen["after"] = [told(guess) for guess in update.after.guesses]
    seen["captions"] |= {"gradient": _pull(update), "change": _move(update), "after": _again(update)}
    return with_numbers(made, seen, FORWARD | UPDATE)


def _pull(update: UpdateTrace) -> str:
    longest = max(update.groups, key=lambda g: g.gradient)
    clip = update.learner.entry.recipe.grad_clip
    short = f"; it is shortened to {clip:g} before the step" if clip and update.gradient > clip else ""
    return (
        f"The loss of the whole batch pulls hardest at: {longest.name}. All gradients together are "
        f"{update.gradient:.3g} long{short}."
    )


def _move(update: UpdateTrace) -> str:
    most = max(update.groups, key=lambda g: g.share)
    return (
        f"The optimiser moves every group a little, at {100 * update.share:.0f} % of the full learning rate. It moves "
        f"furthest in: {most.name}, by {100 * most.share:.2f} % of the length of its parameters."
    )


def _again(update: UpdateTrace) -> str:
    pairs = list(zip(update.before.guesses, update.after.guesses, strict=True))
    nearer = sum(b.probability > a.probability for a, b in pairs)
    was, left = update.losses
    return (
        f"The same batch again after this one step: its loss goes from {was:.3f} to {left:.3f} nats. "
        f"In this row the true answer gained at {nearer} of {len(pairs)} positions."
    )
