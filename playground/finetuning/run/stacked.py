"""Several trials of a comparison as one stack: one pass and one step for all of them, with the numbers of trials apart.

Trials stand in one stack if they have the same head, the same extra modules, as many steps and as many texts in a step.
Their plans may differ, because every trial has a learning rate of its own for every layer group; a rate of 0 leaves
every bit as it was.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import pad

from playground.finetuning.data.dataset import Dataset, rows_of
from playground.finetuning.run.activation_cache import complete
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result, mid_run_eval, result_of
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered, order_on
from playground.finetuning.run.tune import StepEvent
from playground.finetuning.strategy.losses import Pull
from playground.finetuning.strategy.strategy import Strategy
from playground.models.word_vectors import StaticNetwork
from playground.training.memory import FLOATS
from playground.training.parallel.stacked import StackedParameters, columns, parts_of, widened


def why_not_stackable(base: Base, strategy: Strategy, texts: Dataset) -> str:
    """Why a trial cannot stand in a stack; nothing where it can."""
    model, more = base.learner.model, "".join(term.name for term in strategy.aux_losses[:1])
    positions = model.shape.max_position_embeddings if model.shape.positions == "learned" else texts.tokens.ids.shape[1]
    reasons = {
        "it trains nothing": strategy.prompt,
        "its model or head is given more than the words": strategy.extra_features,
        f"its steps hold more than the task ({more})": strategy.aux_losses,
        f"it takes the task's loss in another form ({getattr(strategy.task_loss, 'name', '')})": strategy.task_loss,
        "its penalty is no pull towards the start": not all(isinstance(term, Pull) for term in strategy.penalties),
        "its model or its head reads word by word": model.shape.recurrent or strategy.head.recurrent,
        "its head has batch norm, which keeps means": strategy.head.hidden,
        "batches hold different numbers of answers": texts.answer.varies,
        "word vectors made of n-grams are summed for one model at a time": (
            isinstance(model.network, StaticNetwork) and model.network.num_buckets
        ),
        "its longest text is longer than the model has positions": texts.tokens.ids.shape[1] > positions,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def alike(strategy: Strategy, setting: FinetuneConfig) -> Hashable:
    """What trials of one stack have in common besides the base and the task."""
    return strategy.head, strategy.adapters, strategy.own_row, setting


def bytes_of(base: Base, texts: Dataset, setting: FinetuneConfig) -> int:
    """How much memory a trial needs in a stack, rather too much than too little."""
    shape, positions = base.learner.model.shape, setting.batch_size * texts.rows_each * texts.tokens.ids.shape[1]
    layers = shape.layers + 2 * shape.decoder_layers
    maps = 2 * shape.heads * texts.tokens.ids.shape[1] * positions * layers
    kept = round(positions * layers * (12 + 2 * shape.mlp_ratio) * shape.width)
    weights = sum(p.numel() for p in base.learner.model.parameters())
    return FLOATS * (8 * weights + kept + maps)


def tune_together(
    base: Base, trials: Sequence[tuple[Strategy, Dataset, Dataset, int]], setting: FinetuneConfig
) -> Iterator[tuple[int, StepEvent | Result]]:
    """The events of several trials (strategy, labelled and unseen texts, seed) by their numbers; at last outcomes."""
    began = time.perf_counter()
    runs = [Finetuner(base, strategy, numbered(train, base), setting, seed) for strategy, train, _, seed in trials]
    tests = [test for _, _, test, _ in trials]
    stack = TrialStack(runs)
    seconds = time.perf_counter() - began
    unread: list[Tensor] = []
    for step in range(setting.steps):
        began = time.perf_counter()
        unread.append(stack.learn(step))
        losses = runs[0].read(unread, step)
        seconds += time.perf_counter() - began
        for each, row in losses.items():
            for k, (run, loss) in enumerate(zip(runs, row, strict=True)):
                yield k, StepEvent(each + 1, loss, run.rates[:, each], mid_run_eval(run, tests[k], each))
    for k, (run, test) in enumerate(zip(runs, tests, strict=True)):
        yield k, result_of(run, numbered(test, base), seconds / len(runs))


class TrialStack:
    """The trials of a stack; each keeps its own model, whose weights are views of the stack."""

    def __init__(self, runs: Sequence[Finetuner]) -> None:
        self.runs, self.batches = runs, Batches(runs)
        models = [StackedModel(run) for run in runs]
        self.model = models[0]
        names = {id(p): name for name, p in self.model.named_parameters()}
        groups = runs[0].groups
        self.rows = {group: StackedParameters.of(models, [names[id(p)] for p in ps]) for group, ps in groups.items()}
        self.pulls = pulls(runs, self.rows)
        weights = next(iter(self.rows.values())).flat
        self.decays = torch.tensor([run.decays for run in runs], dtype=torch.float64).T.to(weights)
        restarts = torch.tensor([run.restarts for run in runs]).T
        self.restarting, self.restarts = restarts.any(dim=1).tolist(), restarts.to(weights.device)
        self.columns = torch.tensor([run.columns for run in runs], dtype=torch.float64).permute(1, 2, 0)
        self.learning: list[list[bool]] = self.columns.any(dim=2).tolist()
        self.rates = self.columns.to(weights)

    def learn(self, step: int) -> Tensor:
        """One step of all trials; the loss of the task in each."""
        for row, learns in zip(self.rows.values(), self.learning[step], strict=True):
            row.learns(learns)
            if self.restarting[step]:
                row.restart(self.restarts[step])
        losses = self._losses(step)
        if losses.requires_grad:  # else everything is frozen in this step
            losses.sum().backward()
        for (group, row), rates, learns, decays in zip(
            self.rows.items(), self.rates[step], self.learning[step], self.decays, strict=True
        ):
            if learns:
                gradient, came = row.taken()
                if (pull := self.pulls.get(group)) is not None:
                    gradient, came = gradient + pull.strength * (row.flat - pull.start), came | pull.pulled
                row.adamw(gradient, came, rates, decays)
        for run, rates in zip(self.runs, self.columns[step].T, strict=True):
            run.note(step, rates)
        return losses.detach()

    def _losses(self, step: int) -> Tensor:
        """The loss of each trial; what lies beneath all that learns in any trial is not computed again."""
        batches, index, each = self.batches, self.batches.index(step), self.batches.sample.rows_each
        where = zip(rows_of(index, each), rows_of(batches.index(step, CPU), each), strict=True)
        frozen = min(run.frozen(step) for run in self.runs)
        kept = [run.reader.kept(*rows, frozen) for run, rows in zip(self.runs, where, strict=True)]
        known = {level: batches.wide([some[level] for some in kept]) for level in kept[0]}

        def one(parts: dict[str, Tensor], texts: dict[str, Tensor], known: dict[int, Tensor]) -> Tensor:
            return functional_call(self.model, parts, (batches.one(texts), known))

        with sdpa_kernel(SDPBackend.MATH):  # the others cannot be mapped over
            return vmap(one)(parts_of(self.rows), batches.at(index), known)


class StackedModel(nn.Module):
    """All that a trial trains as one module; the extra modules take part where they are attached."""

    def __init__(self, run: Finetuner) -> None:
        super().__init__()
        self.model, self.head = run.model, run.head
        self.attached = nn.ModuleList(extra.modules for extra in run.attached)

    def forward(self, texts: Dataset, known: dict[int, Tensor]) -> Tensor:
        """The loss of the task, given the levels that are known of the texts."""
        levels = complete(self.model, texts.tokens, known, max(self.head.levels))
        return texts.answer.loss(self.head(levels, texts), texts.labels)


CPU = torch.device("cpu")

OF_TOKENS, OF_TEXTS = ("ids", "lengths", "word_ids", "sentence_ids"), ("labels", "positions", "sides")
FILL = {"sides": -1}


class Batches:
    """The labelled texts of all trials with a trial axis in front, each trial in its own order."""

    def __init__(self, runs: Sequence[Finetuner]) -> None:
        self.runs, self.sample = runs, runs[0].train
        every = [_tensors(run.train) for run in runs]
        self.texts = {name: widened([texts[name] for texts in every], FILL.get(name, 0)) for name in every[0]}

    def index(self, step: int, device: torch.device | None = None) -> Tensor:
        """Which examples each trial reads in a step, `[k, b]`, by default on the device of the texts."""
        device, size = device or self.sample.labels.device, self.runs[0].setting.batch_size
        return torch.stack([order_on(device, len(run.train.labels), size, run.seed, step) for run in self.runs])

    def at(self, index: Tensor) -> dict[str, Tensor]:
        """The examples with these numbers, `[k, b, ...]`."""
        rows, trial = rows_of(index, self.sample.rows_each), torch.arange(len(index), device=index.device)[:, None]
        return {name: texts[trial, index if name == "labels" else rows] for name, texts in self.texts.items()}

    def wide(self, known: Sequence[Tensor]) -> Tensor:
        """Hidden states of each trial's texts `[b, t, d]`, padded to the widest text of any trial."""
        width = self.texts["ids"].shape[2]
        return torch.stack([pad(some, (0, 0, 0, width - some.shape[1])) for some in known])

    def one(self, texts: dict[str, Tensor]) -> Dataset:
        """The batch of a single trial, as its model and its head read it."""
        own = {name: texts[name] for name in OF_TEXTS if name in texts}
        tokens = {name: texts[name] for name in OF_TOKENS}
        labels = {name: texts[name] for name in self.sample.tokens.labels}
        like = self.sample.tokens
        return replace(self.sample, tokens=replace(like, **tokens, labels=labels, example_ids=None, padded=True), **own)


def _tensors(texts: Dataset) -> dict[str, Tensor]:
    tensors = {name: getattr(texts.tokens, name) for name in OF_TOKENS} | dict(texts.tokens.labels)
    return tensors | {name: value for name in OF_TEXTS if (value := getattr(texts, name)) is not None}


@dataclass(frozen=True)
class Pulls:
    """How hard each number of a layer group is pulled `[k, n]`, whether it is at all, and to which value."""

    strength: Tensor
    pulled: Tensor
    start: Tensor


def pulls(runs: Sequence[Finetuner], rows: Mapping[str, StackedParameters]) -> dict[str, Pulls]:
    """The penalties of all trials by layer group, where there are any."""
    every = [_strengths(run) for run in runs]

    def joined(group: str, value: Callable[[dict[int, Tensor], Tensor], Tensor]) -> Tensor:
        trials = ((run.groups[group], some) for run, some in zip(runs, every, strict=True))
        return torch.stack([columns([value(some, p).detach() for p in group]) for group, some in trials])

    pulls_of: dict[str, Pulls] = {}
    for group, row in rows.items() if any(every) else ():
        pulled = joined(group, lambda some, p: torch.full_like(p, id(p) in some)).bool()
        if bool(pulled.any()):
            strength = joined(group, lambda some, p: some.get(id(p), torch.zeros_like(p)))
            pulls_of[group] = Pulls(strength, pulled, row.flat.clone())
    return pulls_of


def _strengths(run: Finetuner) -> dict[int, Tensor]:
    """The strength with which each parameter is pulled, by its id."""
    strengths: dict[int, Tensor] = {}
    for term in run.strategy.penalties:
        assert isinstance(term, Pull)
        for p, need in zip(run.named.values(), term.need(run.base, tuple(run.named)), strict=True):
            strengths[id(p)] = strengths.get(id(p), 0.0) + term.strength * need
    return strengths
