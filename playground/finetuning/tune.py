"""One fine-tuning run: the plan decides every learning rate, and what is frozen stays bit-identical."""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from playground.corpora.corpus import pick
from playground.example import Tokens
from playground.finetuning.strategy import Strategy
from playground.finetuning.task import Labelled
from playground.models.heads import ClassHead
from playground.models.model import LanguageModel
from playground.seeds import generator
from playground.training.learner import Learner

HEAD = "task head"


@dataclass(frozen=True)
class Base:
    """A pre-trained learner and the held-out text on which forgetting is measured."""

    learner: Learner
    held_out: Tokens


@dataclass(frozen=True)
class Setting:
    """What all lanes of a comparison share."""

    steps: int = 80
    batch: int = 16


@dataclass(frozen=True)
class Tuned:
    """One finished step of a fine-tuning run; `rates` `[g]` are the learning rates the optimiser used in it."""

    step: int
    loss: float
    rates: Tensor


@dataclass(frozen=True)
class Outcome:
    """What a run has to show: accuracy on unseen texts, forgetting in nats, numbers of parameters, seconds.

    `plan` `[g, s]` was planned, `rates` `[g, s]` was used; `moved` is the distance each group moved.
    """

    accuracy: float
    forgetting: float
    trainable: int
    stored: int
    seconds: float
    groups: tuple[str, ...]
    plan: Tensor
    rates: Tensor
    moved: tuple[float, ...]


def tune(
    base: Base, strategy: Strategy, train: Labelled, test: Labelled, setting: Setting, seed: int
) -> Iterator[Tuned | Outcome]:
    """Fine-tune a copy of the base; every step is a `Tuned`, the last value is the `Outcome`."""
    train, test = train.to(base.learner.device), test.to(base.learner.device)
    before = base.learner.evaluate(base.held_out)
    model = deepcopy(base.learner.model)
    head = new_head(model, int(train.labels.max()) + 1, seed)
    groups = parameters(model, head)
    plan = strategy.plan(tuple(groups), setting.steps)
    optimiser = torch.optim.AdamW(
        [{"params": list(p), "lr": 0.0} for p in groups.values()], betas=(0.9, 0.98), weight_decay=0.01, fused=True
    )
    rates, seconds = torch.zeros_like(plan), 0.0
    for step in range(setting.steps):
        began = time.perf_counter()
        loss = _step(model, head, optimiser, strategy.rate * plan[:, step], _draw(train, setting.batch, seed, step))
        seconds += time.perf_counter() - began
        rates[:, step] = torch.tensor([g["lr"] for g in optimiser.param_groups])
        yield Tuned(step + 1, loss, rates[:, step])
    after = replace_model(base.learner, model).evaluate(base.held_out)
    asked = list(before)[-1]  # ELECTRA's first question is the generator's, which fine-tuning does not use
    thawed = [sum(p.numel() for p in ps) for ps, row in zip(groups.values(), plan, strict=True) if bool(row.any())]
    yield Outcome(
        accuracy=accuracy(model, head, test),
        forgetting=after[asked] - before[asked],
        trainable=sum(thawed),
        stored=sum(thawed),
        seconds=seconds,
        groups=tuple(groups),
        plan=plan,
        rates=rates,
        moved=tuple(distances(base.learner.model, model, groups)),
    )


def new_head(model: LanguageModel, classes: int, seed: int) -> ClassHead:
    """A fresh head for the task, the same for every strategy of a seed."""
    head = ClassHead(model.shape.width, classes)
    rng = generator(seed, "head")
    with torch.no_grad():
        head.score.weight.copy_(torch.randn(head.score.weight.shape, generator=rng) * 0.02)
        head.score.bias.zero_()
    return head.to(model.table.weight.device)


def parameters(model: LanguageModel, head: ClassHead) -> dict[str, tuple[nn.Parameter, ...]]:
    """The parameters that reading a text uses, by layer group from the bottom up, the task's head last."""
    named = dict(model.named_parameters())
    reading = {k: v for k, v in model.groups().items() if not k.startswith(("decoder", "generator"))}
    found = {group: tuple(named[n] for n in names if _reads(n)) for group, names in reading.items()}
    return {**{g: ps for g, ps in found.items() if ps}, HEAD: tuple(head.parameters())}


def _reads(name: str) -> bool:
    """Whether reading a plain text uses this parameter (the pre-training heads and the other stack do not)."""
    return not name.startswith(("vocabulary", "replaced", "generator", "network.decoder", "network.blank"))


def _step(
    model: LanguageModel, head: ClassHead, optimiser: torch.optim.Optimizer, rates: Tensor, drawn: Labelled
) -> float:
    for group, rate in zip(optimiser.param_groups, rates.tolist(), strict=True):
        group["lr"] = rate
        for parameter in group["params"]:
            parameter.requires_grad_(rate != 0.0)
    loss = cross_entropy(head(model.features(drawn.tokens), drawn.tokens.real), drawn.labels)
    if loss.requires_grad:  # else everything is frozen in this step
        loss.backward()
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    return float(loss.detach())


def _draw(train: Labelled, size: int, seed: int, step: int) -> Labelled:
    """The batch of a step: passes over the labelled texts in an order of its own each time."""
    number = len(train.labels)
    places = torch.arange(step * size, (step + 1) * size)
    first, last = int(places[0]) // number, int(places[-1]) // number
    passes = [torch.randperm(number, generator=generator(seed, "pass", p)) for p in range(first, last + 1)]
    index = torch.stack([passes[int(p) // number - first][int(p) % number] for p in places])
    return Labelled(pick(train.tokens, index), train.labels[index])


@torch.no_grad()
def accuracy(model: LanguageModel, head: ClassHead, test: Labelled) -> float:
    """The share of unseen texts that are labelled right."""
    scores = head(model.features(test.tokens), test.tokens.real)
    return float((scores.argmax(dim=1) == test.labels).double().mean())


def replace_model(learner: Learner, model: LanguageModel) -> Learner:
    """The learner with another model, for evaluation only."""
    objective = learner.entry.objective
    objective = objective.proposing(model.propose) if objective.proposes else objective
    return replace(learner, model=model, objective=objective)


def distances(
    before: LanguageModel, after: LanguageModel, groups: dict[str, tuple[nn.Parameter, ...]]
) -> Iterator[float]:
    """How far each group moved (Euclidean), exactly 0 where it was frozen; the new head counts as 0."""
    old = dict(before.named_parameters())
    names = {id(p): n for n, p in after.named_parameters()}
    for parameters_of_group in groups.values():
        square = [((p - old[names[id(p)]]) ** 2).sum() for p in parameters_of_group if id(p) in names]
        yield float(torch.stack(square).detach().sum().sqrt()) if square else 0.0
