"""Fair comparisons: every trial gets as many steps, tokens or operations, and its learning rate by the same rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.losses import ReadingBudget
from playground.finetuning.strategy.plasticity import APART, PaintedCell
from playground.finetuning.strategy.strategy import OTHER, Strategy
from playground.models.cost import operations
from playground.models.model import LanguageModel

MATCHES = ("steps", "tokens", "flops")
"""What all trials have alike: optimiser steps, tokens that are read, or floating-point operations."""

RATES = ("own", "fixed", "published", "tuned")
"""Where learning rates come from: the strategy's own for tiny models, one for all, the paper's, or a small search."""

FIXED, GRID = Strategy.rate, (1e-3, 4e-3, 1.6e-2)
"""The one rate for all, and the rates that a small search tries for every strategy alike."""

MOST_TIMES, PER_WEIGHT = 10, 3
"""How many times the steps of the first trial another may get; numbers beside a weight: gradient and AdamW's means."""


@dataclass(frozen=True)
class Cost:
    """What a trial costs: tokens it reads and floating-point operations, both estimated from its plan."""

    tokens: float
    flops: float


class Held(TypedDict):
    """The memory of one training step, in bytes."""

    weights: int
    """All weights of the model, of the head and of added modules."""

    learning: int
    """The gradients of the weights that learn, and what the optimiser keeps for them."""

    activations: int
    """The activations that are kept for the backward pass."""


def cost(
    base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int = 0, run: Finetuner | None = None
) -> Cost:
    """The tokens and operations of a trial.

    Each token of the labelled texts costs every layer group the same `operations` as in pre-training; what lies below
    all that learns needs no backward pass, and embeddings are free. What a strategy reads beside the task, or more than
    once, counts as so many more tokens, forward and backward; while the task waits its own texts do not count. Kept
    activations are not subtracted: this is what the strategy needs, not what this program saves. Scoring the
    vocabulary, the optimiser and the evaluation are left out; a model that is only prompted costs nothing. An existing
    `run` need not be made again.
    """
    if strategy.prompt:
        return Cost(0.0, 0.0)
    run = run or Finetuner(base, strategy, numbered(train, base), setting, seed)
    plan = strategy.plan(tuple(run.groups), setting.steps) != 0
    length = float(train.tokens.lengths.float().mean()) + sum(e.kind.more_tokens for e in run.attached)
    tokens, attended = setting.batch_size * length, length * run.model.shape.width
    extras = {row: parameters for e in run.attached for row, parameters in e.rows.items()}
    inputs = {OTHER, *(e.kind.name for e in run.attached if e.kind.more_tokens)}
    per_token = torch.zeros(setting.steps)
    for index, (group, parameters) in enumerate(run.groups.items()):
        matrices = [p.numel() for p in extras.get(group, parameters) if p.dim() > 1]
        free = group.startswith("embeddings") or group in inputs  # other tasks' tokens cost what the task's own do
        weights = 0 if free else sum(matrices)
        attention = attended if group.startswith("encoder") and not group.endswith(APART) else 0.0
        within = (*extras, f"{group} {strategy.own_row}")  # what is in every layer, or in this one, lies below it too
        beneath = plan[[k for k, other in enumerate(run.groups) if k < index or other in within]].any(dim=0)
        per_token += operations(weights, attention, plan[index].float(), beneath.float())
    frozen = sum(b.numel() for e in run.attached for module in e.modules for b in module.buffers())
    per_token += operations(frozen, 0.0, torch.zeros(setting.steps), plan.any(dim=0).float())
    budget = ReadingBudget(setting.steps, tokens, base.held_out.ids.shape[1])
    more = sum(term.tokens_read(budget) for term in (*strategy.penalties, *strategy.aux_losses))
    passes = strategy.task_loss.passes if strategy.task_loss else 1
    read = tokens * (setting.steps - strategy.waits(setting.steps)) * passes + more
    return Cost(read, float(per_token.mean()) * read)


def held(run: Finetuner) -> Held:
    """What the step in which most weights learn holds, measured: it is taken, so the run cannot be used afterwards."""
    sizes = torch.tensor([_bytes(some) for some in run.groups.values()])
    learns = run.plan != 0
    kept: dict[int, torch.UntypedStorage] = {}  # held until all are counted, so that no address is used again

    def keep(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        kept[storage.data_ptr()] = storage
        return value

    with saved_tensors_hooks(keep, lambda value: value):
        run.learn(int((sizes[:, None] * learns).sum(dim=0).argmax()))
    frozen = {
        b.untyped_storage().data_ptr(): b.untyped_storage().nbytes() for e in run.attached for b in e.modules.buffers()
    }
    weights = {p.untyped_storage().data_ptr() for p in (*run.model.parameters(), *run.every)} | {*frozen}
    activations = sum(storage.nbytes() for address, storage in kept.items() if address not in weights)
    learning = PER_WEIGHT * int(sizes[learns.any(dim=1)].sum())
    return Held(weights=int(sizes.sum()) + sum(frozen.values()), learning=learning, activations=activations)


def held_at_rest(model: LanguageModel) -> Held:
    """What a model holds that is only prompted: its weights."""
    return Held(weights=_bytes(model.parameters()), learning=0, activations=0)


def _bytes(parameters: Iterable[Tensor]) -> int:
    return sum(p.numel() * p.element_size() for p in parameters)


def check_rules(match: str = "steps", lr_policy: str = "own") -> None:
    """Refuse an unknown way to match trials or to choose their rates."""
    for name, value, known in (("match", match, MATCHES), ("lr_policy", lr_policy, RATES)):
        if value not in known:
            raise UserError(f"{name} is {value!r}; choose one of {', '.join(known)}.")


def matched_steps(
    base: Base, first: Strategy, other: Strategy, train: Dataset, setting: FinetuneConfig, match: str, seed: int = 0
) -> int:
    """How many steps a strategy gets, so that it reads or computes as much as the first one does in its steps."""
    check_rules(match)
    if match == "steps" or other == first:
        return setting.steps
    allowed, own = (getattr(cost(base, s, train, setting, seed), match) for s in (first, other))
    if not own:  # it trains nothing
        return setting.steps
    return min(max(1, round(setting.steps * allowed / own)), MOST_TIMES * setting.steps)


def describe_limit(name: str, steps: int, first: int, match: str) -> tuple[str, ...]:
    """A sentence where a strategy cannot get as many steps as would match it with those of the first one."""
    limit = f"{name} gets {MOST_TIMES} times the steps of the first, not more, so its {match} are fewer."
    return (limit,) if steps == MOST_TIMES * first else ()


def rescale_cells(strategy: Strategy, steps: int, before: int) -> Strategy:
    """The strategy with its painted cells moved to the same shares of another number of steps."""
    if steps == before:
        return strategy
    cells = tuple(
        PaintedCell(c.group, (c.first - 1) * steps // before + 1, max(1, -(-c.last * steps // before)), c.multiplier)
        for c in strategy.painted
    )
    return replace(strategy, painted=cells)


def with_rate(strategy: Strategy, lr_policy: str) -> Strategy:
    """The strategy with its rate by a rule that needs no search; where none is published it keeps our own."""
    check_rules(lr_policy=lr_policy)
    published = strategy.published.rate if strategy.published else strategy.rate
    return replace(strategy, rate={"fixed": FIXED, "published": published}.get(lr_policy, strategy.rate))


def rate_source(strategy: Strategy, lr_policy: str) -> tuple[str, str]:
    """Whose the rate of a strategy is in a comparison (ours, one for all, published, searched for), and a note.

    The note is the public place of a published rate, or why there is none; else empty.
    """
    if lr_policy == "published" and strategy.published:
        return "published", strategy.published.where
    if lr_policy == "published":
        return "ours", "no source that we could read states one"
    return {"fixed": "one for all", "tuned": "searched for"}.get(lr_policy, "ours"), ""


def list_published(chosen: Sequence[Strategy]) -> str:
    """Which of some strategies have a published rate and where it stands, and which keep ours."""
    learning = [strategy for strategy in chosen if not strategy.prompt]
    stated = "; ".join(f"{s.name} {s.published.rate:g} ({s.published.where})" for s in learning if s.published)
    ours = ", ".join(f"{s.name} {s.rate:g}" for s in learning if not s.published)
    kept = f" Not stated in any source that we found, so ours: {ours}." if ours else ""
    return f"Published: {stated or 'none of these'}.{kept}"


def search_rate(base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int) -> float:
    """The rate of the grid that does best on the last quarter of the labelled texts, learnt from the others.

    Every strategy gets the same budget: one run for each rate. Of rates that do equally well the one nearest to the
    strategy's own is taken.
    """
    number = len(train.labels)
    if number < 8:
        raise UserError(f"train_size is {number}; a search for rates holds a quarter back and needs at least 8.")
    index = torch.arange(number, device=train.labels.device)
    learnt, held_back = (train.pick(part) for part in (index[: number * 3 // 4], index[number * 3 // 4 :]))
    scores = {}
    for rate in GRID:
        *_, last = tune(base, replace(strategy, rate=rate), learnt, held_back, replace(setting, looks=0), seed)
        assert isinstance(last, Result)
        scores[rate] = last.accuracy
    return max(GRID, key=lambda rate: (scores[rate], -abs(rate / strategy.rate - 1)))
