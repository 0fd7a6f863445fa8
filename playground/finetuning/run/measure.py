"""What is measured of a fine-tuning run, between its steps and at its end."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from playground.corpora.corpus import pick
from playground.devices import on_cpu
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.trainer import BODY, Finetuner, distances, numbered
from playground.finetuning.strategy.strategy import OTHER

SEEN, BLOCK = 128, 128
"""Unseen texts of an evaluation between two steps, and how many are read at once."""

FEW = 4
"""Texts that are compared first where everything is expected to differ."""


@dataclass(frozen=True)
class MidRunEval:
    """Accuracy on so many unseen `texts`, forgetting in nats, how far each group has moved, its number of weights."""

    texts: int
    accuracy: float
    forgetting: float | None
    moved: tuple[float, ...]
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Result:
    """The result of a run: accuracy on unseen texts, forgetting in nats, numbers of parameters, seconds.

    `plan` `[g, s]` was planned, `rates` `[g, s]` was used; `moved` is the distance each group moved, `sizes` are their
    numbers of weights. Forgetting is measured with the extra modules detached, `plugged_in` with them attached, and
    both are None where the base has no head for it;
    `unchanged` says whether the model, without them, gives bit for bit what it gave before; `mix` `[m, 2 + l]` has for
    some steps, the start and the end among them, the step, the scale of a learned mix of levels and the share of each;
    `measured` are all numbers of the task, the accuracy among them.
    """

    accuracy: float
    forgetting: float | None
    trainable: int
    stored: int
    seconds: float
    groups: tuple[str, ...]
    plan: Tensor
    rates: Tensor
    moved: tuple[float, ...]
    plugged_in: float | None = 0.0
    mix: Tensor = field(default_factory=lambda: torch.zeros(0))
    unchanged: bool = False
    measured: Mapping[str, float] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """How much of each level a learned mix reads in the end, from the bottom up; empty for other heads."""
        return tuple(self.mix[-1, 2:].tolist()) if len(self.mix) else ()


def mid_run_eval(run: Finetuner, test: Dataset, step: int) -> MidRunEval | None:
    """An evaluation after a step, None after most steps; it changes nothing."""
    if not run.evaluates(step):
        return None
    index = torch.arange(min(SEEN, len(test.labels)), device=test.labels.device)
    some = run.base.remember(("some", id(test)), lambda: test.pick(index))
    accuracy = measures(run, numbered(some, run.base))["accuracy"]
    rise = forgetting(run, body_changed(run) or bool(run.attached))
    return MidRunEval(len(index), accuracy, rise, distances(run.start, run.groups), run.sizes)


def result_of(run: Finetuner, test: Dataset, seconds: float) -> Result:
    """The result after the last step; the extra modules are detached."""
    measured = measures(run, test)
    plugged_in = forgetting(run, body_changed(run) or bool(run.attached))
    for extra in run.attached:
        extra.detach()
    rise = forgetting(run, body_changed(run)) if run.attached else plugged_in
    thawed = [g for g, row in zip(run.groups, run.plan, strict=True) if bool(row.any())]
    new = {g for g, level in zip(run.groups, run.levels, strict=True) if _is_fresh(run, level)}
    return Result(
        measured["accuracy"], rise, _count(run, thawed), _count(run, {*thawed, *new} - {OTHER}), seconds,
        tuple(run.groups), run.plan, run.rates, distances(run.start, run.groups),
        plugged_in, _mix(run), unchanged(run), measured, run.sizes,
    )  # fmt: skip


def _mix(run: Finetuner) -> Tensor:
    """A learned mix of levels at some steps, `[m, 2 + l]`, as `Result.mix` has it."""
    if not run.mixes:
        return torch.zeros(0)
    return torch.cat([torch.tensor([*run.mixes])[:, None], torch.stack([*run.mixes.values()]).cpu()], dim=1)


def _count(run: Finetuner, groups: Container[str]) -> int:
    return sum(size for group, size in zip(run.groups, run.sizes, strict=True) if group in groups)


def _is_fresh(run: Finetuner, level: int) -> bool:
    """Whether the weights of a level were initialised again."""
    top = run.model.top_hidden_state
    fresh = {"decoder": level > top, "encoder": 0 < level <= top, "layers": level > 0, "everything": True}
    return fresh.get(run.strategy.fresh, False)


def body_changed(run: Finetuner) -> bool:
    """Whether a weight of the pre-trained model may have changed."""
    rows = [row.any() for row, group in zip(run.plan, run.groups, strict=True) if group.startswith(BODY)]
    return bool(run.strategy.fresh) or any(map(bool, rows))


@torch.no_grad()
def unchanged(run: Finetuner) -> bool:
    """Whether the model gives bit for bit what the base gives."""
    base, text = run.base, run.base.measured
    few = torch.arange(FEW, device=text.ids.device)
    before = base.remember("features", lambda: base.learner.model.features(text))
    if len(text.ids) > FEW and body_changed(run):  # if a few texts differ, the others need not be read
        first = base.remember("few", lambda: base.learner.model.features(pick(text, few)))
        if not torch.equal(first, run.model.features(pick(text, few))):
            return False
    return torch.equal(before, run.model.features(text))


def forgetting(run: Finetuner, changed: bool) -> float | None:
    """The rise of the pre-training loss in nats, None where the base has no head for it."""
    before = run.base.remember("before", lambda: run.base.pretraining_loss(run.base.learner))
    after = run.base.pretraining_loss(run.learner) if changed else before
    return None if before is None or after is None else after - before


@torch.no_grad()
def measures(run: Finetuner, test: Dataset) -> dict[str, float]:
    """All numbers of the task on unseen texts, by name."""
    test = run.prepared(test)
    reader = run.reader_of(test)
    reader.same = min(reader.same, run.reader.same)
    every = torch.arange(len(test.labels))
    blocks = map(test.pick, every.to(test.labels.device).split(BLOCK), every.split(BLOCK))
    scores = torch.cat([run.head(reader.read(some, reader.same), some) for some in blocks])
    return test.answer.measure(*on_cpu((scores, test.labels), run.learner.device))
