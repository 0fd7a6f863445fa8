"""Several lanes of a comparison as one stack: one pass and one step for all of them, with the numbers of lanes apart.

Lanes stand in one stack if they read alike: the same head, the same extra modules, as many steps and texts in a step.
What may change differs between them, because every lane has a learning rate of its own for every layer group; a rate
of 0 leaves every bit as it was.
"""

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import pad

from playground.finetuning.data.dataset import Dataset, rows_of
from playground.finetuning.data.task_types import Span
from playground.finetuning.run.activation_cache import climbed
from playground.finetuning.run.base import Base
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, Result, StepEvent, numbered, order
from playground.finetuning.strategy.losses import Pull
from playground.finetuning.strategy.strategy import Strategy
from playground.models.word_vectors import StaticNetwork
from playground.training.memory import FLOATS
from playground.training.parallel.stacked import Rows, parts_of, widened


def hindrance(base: Base, strategy: Strategy, texts: Dataset) -> str:
    """Why a lane cannot stand in a stack; nothing where it can."""
    model = base.learner.model
    if strategy.prompt:
        return "it trains nothing"
    if strategy.given:
        return "its model or head is given more than the words"
    if strategy.beside:
        return f"its steps hold more than the task ({strategy.beside[0].name})"
    if not all(isinstance(term, Pull) for term in strategy.penalties):
        return "its penalty is no pull towards the start"
    if strategy.head.recurrent:
        return "its head reads word by word"
    if texts.answer.about in ("words", "written") and not isinstance(texts.answer, Span):
        return "batches hold different numbers of answers"
    if isinstance(model.network, StaticNetwork) and model.network.num_buckets:
        return "word vectors made of n-grams are summed for one model at a time"
    if model.shape.positions == "learned" and texts.tokens.ids.shape[1] > model.shape.max_position_embeddings:
        return "its longest text is longer than the model has positions"
    return ""


def alike(strategy: Strategy, setting: FinetuneConfig) -> Hashable:
    """What lanes of one stack have in common beside the base and the task."""
    return strategy.head, strategy.extras, strategy.apart, setting


def bytes_of(base: Base, texts: Dataset, setting: FinetuneConfig) -> int:
    """How much memory a lane wants in a stack, a little too much rather than too little."""
    shape, positions = base.learner.model.shape, setting.batch_size * texts.ways * texts.tokens.ids.shape[1]
    layers = shape.layers + 2 * shape.decoder_layers
    maps = 2 * shape.heads * texts.tokens.ids.shape[1] * positions * layers
    kept = positions * layers * (12 + 2 * shape.mlp_ratio) * shape.width
    weights = sum(p.numel() for p in base.learner.model.parameters())
    return FLOATS * (8 * weights + kept + maps)


def tune_together(
    base: Base, lanes: Sequence[tuple[Strategy, Dataset, Dataset, int]], setting: FinetuneConfig
) -> Iterator[tuple[int, StepEvent | Result]]:
    """The events of several lanes (strategy, labelled and unseen texts, seed) by their numbers; at last outcomes."""
    began = time.perf_counter()
    runs = [Finetuner(base, strategy, numbered(train, base), setting, seed) for strategy, train, _, seed in lanes]
    tests = [test for _, _, test, _ in lanes]
    stack = Stack(runs)
    seconds = time.perf_counter() - began
    for step in range(setting.steps):
        began = time.perf_counter()
        losses = stack.learn(step)
        seconds += time.perf_counter() - began
        for k, (run, loss) in enumerate(zip(runs, losses, strict=True)):
            yield k, StepEvent(step + 1, loss, run.rates[:, step], run.look(tests[k], step))
    for k, (run, test) in enumerate(zip(runs, tests, strict=True)):
        yield k, run.outcome(numbered(test, base), seconds / len(runs))


class Stack:
    """The lanes of a stack on their way; each keeps its own model, whose weights are views of the stack."""

    def __init__(self, runs: Sequence[Finetuner]) -> None:
        self.runs, self.batches = runs, Batches(runs)
        wholes = [StackedModel(run) for run in runs]
        self.whole = wholes[0]
        names = {id(p): name for name, p in self.whole.named_parameters()}
        groups = runs[0].groups
        self.rows = {group: Rows.of(wholes, [names[id(p)] for p in ps]) for group, ps in groups.items()}
        self.pulls = pulls(runs, self.rows)
        self.columns = torch.tensor([run.columns for run in runs], dtype=torch.float64).permute(1, 2, 0)
        self.thaws: list[list[bool]] = self.columns.any(dim=2).tolist()
        self.rates = self.columns.to(runs[0].base.learner.device)

    def learn(self, step: int) -> list[float]:
        """One step of all lanes; the loss of the task in each."""
        for row, some in zip(self.rows.values(), self.thaws[step], strict=True):
            row.learns(some)
        losses = self._losses(step)
        if losses.requires_grad:  # else everything is frozen in this step
            losses.sum().backward()
        for (group, row), rates, some in zip(self.rows.items(), self.rates[step], self.thaws[step], strict=True):
            if some:
                self._move(group, row, rates)
        for run, rates in zip(self.runs, self.columns[step].T, strict=True):
            run.note(step, rates)
        return losses.tolist()

    def _losses(self, step: int) -> Tensor:
        index = self.batches.index(step)
        known = self._known(index, min(run.frozen(step) for run in self.runs))

        def one(parts: dict[str, Tensor], texts: dict[str, Tensor], known: dict[int, Tensor]) -> Tensor:
            return functional_call(self.whole, parts, (self.batches.one(texts), known))

        with sdpa_kernel(SDPBackend.MATH):  # the others know no lanes
            return vmap(one)(parts_of(self.rows), self.batches.at(index), known)

    def _known(self, index: Tensor, frozen: int) -> dict[int, Tensor]:
        """What need not be computed anew, because nothing beneath it learns in any lane."""
        ways = self.batches.sample.ways
        every = [run.reader.known(rows_of(some, ways), frozen) for run, some in zip(self.runs, index, strict=True)]
        return {level: self.batches.wide([known[level] for known in every]) for level in every[0]}

    def _move(self, group: str, row: Rows, rates: Tensor) -> None:
        gradient, came = row.taken()
        if (pull := self.pulls.get(group)) is not None:
            gradient, came = gradient + pull.strength * (row.flat - pull.start), came | pull.pulled
        row.adamw(gradient, came, rates)


class StackedModel(nn.Module):
    """All that a lane trains as one module; the extra modules take part where they are plugged in."""

    def __init__(self, run: Finetuner) -> None:
        super().__init__()
        self.model, self.head = run.model, run.head
        self.extras = nn.ModuleList(extra.modules for extra in run.extras)

    def forward(self, texts: Dataset, known: dict[int, Tensor]) -> Tensor:
        """The loss of the task, given what is known of the texts."""
        levels = climbed(self.model, texts.tokens, known, max(self.head.levels))
        return texts.answer.loss(self.head(levels, texts), texts.labels)


class Batches:
    """The labelled texts of all lanes with a lane axis in front, each lane in its own order."""

    def __init__(self, runs: Sequence[Finetuner]) -> None:
        self.runs, self.sample = runs, runs[0].train
        every = [tensors_of(run.train) for run in runs]
        self.texts = {name: widened([texts[name] for texts in every], FILL.get(name, 0)) for name in every[0]}

    def index(self, step: int) -> Tensor:
        """Which examples each lane reads in a step, `[k, b]`."""
        size = self.runs[0].setting.batch_size
        some = [order(len(run.train.labels), size, run.seed, step) for run in self.runs]
        return torch.stack(some).to(self.sample.labels.device)

    def at(self, index: Tensor) -> dict[str, Tensor]:
        """The examples with these numbers, `[k, b, ...]`."""
        rows, lane = rows_of(index, self.sample.ways), torch.arange(len(index), device=index.device)[:, None]
        return {name: texts[lane, index if name == "labels" else rows] for name, texts in self.texts.items()}

    def wide(self, known: Sequence[Tensor]) -> Tensor:
        """What is known of each lane's texts `[b, t, d]`, as wide as the widest text of any lane."""
        width = self.texts["ids"].shape[2]
        return torch.stack([pad(some, (0, 0, 0, width - some.shape[1])) for some in known])

    def one(self, texts: dict[str, Tensor]) -> Dataset:
        """The batch of a single lane, as its model and its head know it."""
        own = {name: texts[name] for name in OF_TEXTS if name in texts}
        labels = {name: texts[name] for name in self.sample.tokens.labels}
        tokens = replace(
            self.sample.tokens,
            **{name: texts[name] for name in OF_TOKENS},
            labels=labels,
            example_ids=None,
            padded=True,
        )
        return replace(self.sample, tokens=tokens, **own)


OF_TOKENS, OF_TEXTS = ("ids", "lengths", "word_ids", "sentence_ids"), ("labels", "places", "sides")
FILL = {"sides": -1}


def tensors_of(texts: Dataset) -> dict[str, Tensor]:
    """Everything about labelled texts that has a row for each, by name."""
    found = {name: getattr(texts.tokens, name) for name in OF_TOKENS} | dict(texts.tokens.labels)
    return found | {name: kept for name in OF_TEXTS if (kept := getattr(texts, name)) is not None}


@dataclass(frozen=True)
class Pulls:
    """How hard each number of a layer group is pulled `[k, n]`, whether it is at all, and to where it began."""

    strength: Tensor
    pulled: Tensor
    start: Tensor


def pulls(runs: Sequence[Finetuner], rows: Mapping[str, Rows]) -> dict[str, Pulls]:
    """The penalties of all lanes by layer group, where there are any."""
    if not any(run.strategy.penalties for run in runs):
        return {}
    every = [_strengths(run) for run in runs]
    found: dict[str, Pulls] = {}
    for group, row in rows.items():
        own = [[some.get(id(p)) for p in run.groups[group]] for run, some in zip(runs, every, strict=True)]
        still = [torch.zeros_like(part[0]) for part in row.parts.values()]
        pulled = _joined([[zero + (s is not None) for zero, s in zip(still, some, strict=True)] for some in own])
        strength = _joined([[zero if s is None else s for zero, s in zip(still, some, strict=True)] for some in own])
        if bool(pulled.any()):
            found[group] = Pulls(strength, pulled.bool(), row.flat.clone())
    return found


def _joined(values: Sequence[Sequence[Tensor]]) -> Tensor:
    """Tensors of each lane as one row of numbers, `[k, n]`."""
    return torch.stack([torch.cat([v.detach().flatten() for v in some]) for some in values])


def _strengths(run: Finetuner) -> dict[int, Tensor]:
    """The strength with which each parameter is pulled."""
    found: dict[int, Tensor] = {}
    named = run.as_start().named
    for term in run.strategy.penalties:
        assert isinstance(term, Pull)
        for p, need in zip(named.values(), term.need(run.base, tuple(named)), strict=True):
            found[id(p)] = found.get(id(p), 0.0) + term.strength * need
    return found
