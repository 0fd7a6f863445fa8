"""One fine-tuning run from its first step to its result, as events."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import MidRunEval, Result, mid_run_eval, result_of
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered, parameters
from playground.finetuning.strategy.strategy import Strategy


@dataclass(frozen=True)
class StepEvent:
    """One finished step of a fine-tuning run; `rates` `[g]` are the learning rates the optimiser used in it."""

    step: int
    loss: float
    rates: Tensor
    look: MidRunEval | None = None


def tune(
    base: Base, strategy: Strategy, train: Dataset, test: Dataset, setting: FinetuneConfig, seed: int
) -> Iterator[StepEvent | Result]:
    """Fine-tune a copy of the base; every step is a `StepEvent`, the last value is the `Result`."""
    if strategy.prompt:
        yield prompt_untrained(base, strategy, numbered(train, base), numbered(test, base), setting)
        return
    began = time.perf_counter()
    run = Finetuner(base, strategy, numbered(train, base), setting, seed)
    seconds = time.perf_counter() - began
    unread: list[Tensor] = []
    for step in range(setting.steps):
        began = time.perf_counter()
        unread.append(run.learn(step))
        losses = run.read(unread, step)
        seconds += time.perf_counter() - began
        for each, loss in losses.items():
            yield StepEvent(each + 1, loss, run.rates[:, each], mid_run_eval(run, test, each))
    yield result_of(run, numbered(test, base), seconds)


@torch.no_grad()
def prompt_untrained(base: Base, strategy: Strategy, train: Dataset, test: Dataset, setting: FinetuneConfig) -> Result:
    """The result of a model that is only prompted: no step, no new weight, nothing forgotten."""
    assert strategy.prompt is not None
    model = base.learner.model
    scores = test.answer.prompted(model, strategy.prompt, train, test)
    measured, groups = test.answer.measure(scores, test.labels), parameters(model, nn.Module())
    none, still = torch.zeros(len(groups), setting.steps), (0.0,) * len(groups)
    sizes = tuple(sum(p.numel() for p in some) for some in groups.values())
    known = {"unchanged": True, "measured": measured, "sizes": sizes}
    return Result(measured["accuracy"], 0.0, 0, 0, 0.0, tuple(groups), none, none, still, **known)
