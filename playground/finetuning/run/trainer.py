"""One fine-tuning run: the plan decides every learning rate, and what is frozen stays bit-identical."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from playground.devices import computes_beside
from playground.finetuning.data.dataset import Dataset, HostRows, rows_of
from playground.finetuning.data.input_format import format_for
from playground.finetuning.run.activation_cache import ActivationCache, CachedReader
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.strategy.extra_features import ExtraFeatures
from playground.finetuning.strategy.head import AnyHead, new_head
from playground.finetuning.strategy.losses import Pull, StepContext
from playground.finetuning.strategy.plasticity import layer_of, restarts
from playground.finetuning.strategy.strategy import OTHER, STANDS_APART, Strategy
from playground.models import make_model
from playground.models.adapters import Attached, attach, make_adapter
from playground.models.groups import layer_groups
from playground.models.model import LanguageModel, Network
from playground.optimisers import AdamW
from playground.rng import generator
from playground.training.events import READ_EVERY
from playground.zoo.recipe import BETAS

HEAD, BODY = "task head", ("embeddings", "encoder", "decoder")
"""The group of the task's head, and how those of the pre-trained model begin."""

MIXES = 20
"""How often a learned mix of levels is kept on the way, besides its start."""

AHEAD = 128
"""Steps whose texts are named to a GPU at once, since every copy waits for it."""

Groups = dict[str, tuple[nn.Parameter, ...]]


@dataclass(frozen=True)
class FinetuneConfig:
    """What all trials of a comparison share.

    `keeps` says whether what does not change is computed once per text, `input_format` how texts become rows (None: as
    suits the model), `looks` how often a run is evaluated between steps, `max_length` the most tokens of a row's texts.
    """

    steps: int = 80
    batch_size: int = 16
    keeps: bool = True
    input_format: str | None = None
    looks: int = 0
    max_length: int | None = None


@dataclass(frozen=True)
class OtherTask:
    """Another task that is learnt too: its texts, its head, and its own extra modules where each task has its own."""

    texts: Dataset
    head: AnyHead
    attached: tuple[Attached | None, ...]

    @property
    def parts(self) -> tuple[nn.Module, ...]:
        return (self.head, *(extra.modules for extra in self.attached if extra is not None))


class Finetuner:
    """A copy of the base that is fine-tuned for a task.

    `groups` are its parameters by layer group, `start` their values at the beginning; `named` are the pre-trained ones
    that reading a text uses, `every` all that may learn, the head included. `plan` `[g, s]` times the strategy's rate
    gives the learning rates; `terms` are the auxiliary losses. Weights decay towards 0, except those that a penalty
    pulls towards their start instead (L2-SP, arXiv:1802.01483, sec. 3).
    """

    def __init__(self, base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int) -> None:
        self.base, self.strategy, self.setting, self.seed = base, strategy, setting, seed
        self.input_format = format_for(base.learner.model.shape, setting.input_format, setting.max_length)
        self.steps, self.train = setting.steps, self.prepared(train)
        self.model = started(base.learner.model, strategy.fresh, seed, base.tokenizer.words if base.tokenizer else ())
        self.learner = replace_model(base.learner, self.model)
        self.head = self._head_for(self.train)
        self.attached = [attach(kind, self.model, generator(seed, "extra", kind.name)) for kind in strategy.adapters]
        self.model.requires_grad_(False)
        self.others = self._other_tasks()
        added: dict[str, Iterable[nn.Parameter]] = {row: ps for e in self.attached for row, ps in e.rows.items()}
        others = nn.ModuleList(part for other in self.others for part in other.parts)
        added |= {OTHER: others.parameters()} if self.others else {}
        writes = self.train.decoder_input is not None
        self.groups = parameters(self.model, self.head, added, strategy.own_row, writes)
        self.named: Mapping[str, nn.Parameter] = {
            n: p for n, p in self.model.named_parameters() if _reads(self.model, n, writes)
        }
        self.every = tuple(p for ps in self.groups.values() for p in ps)
        self.sizes = tuple(sum(p.numel() for p in ps) for ps in self.groups.values())
        self.start = {g: [p.detach().clone() for p in ps] for g, ps in self.groups.items()}
        self.plan = strategy.plan(tuple(self.groups), setting.steps)
        self.rates = torch.zeros_like(self.plan)
        self.columns: list[list[float]] = (strategy.rate * self.plan).T.tolist()
        self.restarts = restarts(strategy.plasticity, self.plan)
        pulled = BODY if any(isinstance(term, Pull) for term in strategy.penalties) else ()
        self.decays = [0.0 if group.startswith(pulled) else 0.01 for group in self.groups]
        self.optimiser = AdamW(
            [
                {"params": list(p), "lr": 0.0, "learns": None, "weight_decay": decay}
                for p, decay in zip(self.groups.values(), self.decays, strict=True)
            ],
            betas=BETAS, fused=True,
        )  # fmt: skip
        self.levels = [_level(group, self.model.top_hidden_state) for group in self.groups]
        self.reader = self.reader_of(self.train)
        self.terms = [(term, term.begin(self)) for term in (*strategy.penalties, *strategy.aux_losses)]
        self.after = strategy.after.begin(self) if strategy.after else None
        self.mixes = {0: self.head.mix()} if strategy.head.mixes else {}

    def learn(self, step: int) -> Tensor:
        """One step of the optimiser; the loss of the task."""
        self._set_rates(step)
        drawn = _draw(self.train, self.setting.batch_size, self.seed, step)
        alone = any(term.leaves_out(self, step) for term, _ in self.terms)
        self.head.train(not alone and len(drawn.labels) > 1)  # batch norm of a single text would be 0
        with torch.set_grad_enabled(not alone):
            scores, loss = self._task_loss(step, drawn, plain=alone)
        now, total = StepContext(step, drawn, scores), torch.zeros(()) if alone else loss
        total = sum((term_loss(now) for _, term_loss in self.terms), total)
        if total.requires_grad:  # else everything is frozen in this step
            total.backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.head.eval()
        self.note(step, torch.tensor([g["lr"] for g in self.optimiser.param_groups]))
        return drawn.answer.loss(scores.detach(), drawn.labels)

    def read(self, losses: list[Tensor], step: int) -> dict[int, Any]:
        """Take the losses of the steps up to this one as numbers, by step; none while a GPU need not be waited for."""
        waits, last = computes_beside(self.learner.device), step + 1 == self.steps
        if waits and not (last or self.evaluates(step) or len(losses) == READ_EVERY):
            return {}
        numbers = torch.stack(losses).tolist()
        losses.clear()
        return dict(enumerate(numbers, step + 1 - len(numbers)))

    def _task_loss(self, step: int, drawn: Dataset, plain: bool) -> tuple[Tensor, Tensor]:
        """The scores of a batch and the loss of the task, in the strategy's own form unless `plain`."""
        if self.strategy.task_loss is not None and not plain:
            return self.strategy.task_loss.take(self, step, drawn)
        scores = self.head(self.reader.read(drawn, self.frozen(step)), drawn)
        return scores, drawn.answer.loss(scores, drawn.labels)

    def _set_rates(self, step: int) -> None:
        if self.restarts[step]:
            self.optimiser.state.clear()
        for group, rate in zip(self.optimiser.param_groups, self.columns[step], strict=True):
            if group["learns"] != (rate != 0.0):
                group["learns"] = rate != 0.0
                for parameter in group["params"]:
                    parameter.requires_grad_(group["learns"])
            group["lr"] = rate

    def note(self, step: int, rates: Tensor) -> None:
        """Record the rates `[g]` that were used, drop activations that have changed, apply what comes after."""
        self.rates[:, step] = rates
        self.reader.changed(self.frozen(step) + 1)
        if self.after:
            self.after(step)
        if self.mixes and self._due(step, MIXES):
            self.mixes[step + 1] = self.head.mix()

    def frozen(self, step: int) -> int:
        """The highest level below everything that learns in a step."""
        learning = [k for k, m in zip(self.levels, self.plan[:, step].tolist(), strict=True) if m]
        return min(learning, default=self.model.top_hidden_state + 1) - 1

    def score(self, texts: Dataset, embedded: Tensor | None = None) -> Tensor:
        """The scores of a batch, from changed embeddings where they are given."""
        if embedded is None:
            return self.head(self.reader.read(texts), texts)
        top = self.model.top_hidden_state
        levels = self.model.hidden_states(texts.tokens, embedded, 0, top) if top else [embedded]
        return self.head(dict(enumerate(levels)), texts)

    def embed(self, texts: Dataset) -> Tensor:
        return self.model.hidden_states(texts.tokens, last=0)[0]

    def draw(self, texts: Dataset, step: int) -> Dataset:
        """A batch of other texts than those of the task."""
        drawn = _draw(self.prepared(numbered(texts, self.base)), self.setting.batch_size, self.seed, step)
        return replace(drawn, tokens=replace(drawn.tokens, example_ids=None))

    def rows(self, step: int) -> Tensor:
        """The rows of the labelled texts that a step reads, on the CPU."""
        return rows_of(order(len(self.train.labels), self.setting.batch_size, self.seed, step), self.train.rows_each)

    def other_loss(self, number: int, turn: int) -> Tensor:
        """The loss of the batch that another task reads in its turn; both are counted from 0."""
        other = self.others[number]
        drawn = _draw(other.texts, self.setting.batch_size, self.seed, turn)
        with ExitStack() as modules:
            for own, task in zip(other.attached, self.attached, strict=True):
                if own is not None:
                    modules.enter_context(own.instead_of(task))
            levels = dict(enumerate(self.model.hidden_states(drawn.tokens)))
        return drawn.answer.loss(other.head(levels, drawn), drawn.labels)

    def evaluates(self, step: int) -> bool:
        """Whether an evaluation follows this step."""
        return self._due(step, self.setting.looks)

    def _due(self, step: int, times: int) -> bool:
        """Whether what is done so many times, evenly over the run, is done after this step."""
        return (step + 1) * times // self.steps > step * times // self.steps

    def prepared(self, texts: Dataset) -> Dataset:
        """The texts with the strategy's further inputs; made once for all trials."""
        inputs, made = sorted(self.strategy.extra_features, key=lambda given: not given.first), texts
        for number, given in enumerate(inputs, 1):
            key = ("given", *inputs[:number], id(texts.tokens.ids))
            _, made = self.base.remember(key, partial(_prepared, given, self.base, made))
        return made

    def reader_of(self, texts: Dataset) -> CachedReader:
        """Reads texts; what the trials of a comparison have in common is computed once for all of them."""
        shared = self.base.remember(("kept", id(texts.tokens.ids)), lambda: ActivationCache(texts.tokens))
        same = {"encoder": 0, "layers": 0, "everything": -1}.get(self.strategy.fresh, self.model.top_hidden_state)
        quiet = 0 if self.attached else self.model.top_hidden_state  # extra modules take part in all layers
        return CachedReader(self.model, self.head.levels, shared, same, quiet if self.setting.keeps else -1)

    def _head_for(self, texts: Dataset) -> AnyHead:
        features = 0 if texts.features is None else texts.features.shape[-1]
        return new_head(self.model, texts.answer, self.seed, self.strategy.head, texts.sides is not None, features)

    def _other_tasks(self) -> list[OtherTask]:
        """The other tasks, each with a head of its own and those extra modules of which each task has its own."""
        tasks, others = [], self.strategy.others
        for number, texts in enumerate(others.texts(self.base, self.input_format) if others else ()):
            kinds = [(e.kind, generator(self.seed, "extra", e.kind.name, "of task", number)) for e in self.attached]
            own = tuple(make_adapter(kind, self.model, rng) if kind.for_each_task else None for kind, rng in kinds)
            ready = self.prepared(numbered(texts, self.base))
            tasks.append(OtherTask(ready, self._head_for(ready), own))
        return tasks


def _prepared(given: ExtraFeatures, base: Base, texts: Dataset) -> tuple[Dataset, Dataset]:
    """Texts, which are kept because their id names them, and the same with a further input."""
    return texts, _numbered(given.prepare(base, texts))


def started(pre_trained: LanguageModel, fresh: str, seed: int, words: Sequence[str] = ()) -> LanguageModel:
    """A copy of the pre-trained model; what is fresh has new weights that depend on the seed alone.

    `words` are the vocabulary, which vectors that are made of letters need.
    """
    model = deepcopy(pre_trained)
    if fresh:
        anew = make_model(model.shape, model.token_embedding.num_embeddings, generator(seed, "fresh weights"), words)
        kept = set(layer_groups(model)["embeddings"]) if fresh == "layers" else set()
        part = f"network.{fresh}." if fresh in ("encoder", "decoder") else ""
        new = {n: p for n, p in anew.state_dict().items() if n not in kept and n.startswith(part)}
        model.load_state_dict(new, strict=False)
    return model


def parameters(
    model: LanguageModel,
    head: nn.Module,
    added: Mapping[str, Iterable[nn.Parameter]] | None = None,
    apart: str = "",
    writes: bool = False,
) -> Groups:
    """The parameters that reading a text uses (and writing one), by layer group from the bottom up; new ones last."""
    named, groups = dict(model.named_parameters()), Groups()
    for group, names in layer_groups(model).items():
        used = [name for name in names if _reads(model, name, writes)]
        own = [name for name in used if apart and STANDS_APART[apart](name)]
        for row, some in ((group, [name for name in used if name not in own]), (f"{group} {apart}", own)):
            groups |= {row: tuple(named[name] for name in some)} if some else {}
    new = {row: tuple(dict.fromkeys(some)) for row, some in (added or {}).items()}
    return {**groups, **new, HEAD: tuple(head.parameters())}


def _reads(model: LanguageModel, name: str, writes: bool = False) -> bool:
    """Whether reading a plain text uses this parameter (the pre-training heads and the other networks do not)."""
    idle = ("network.query_embedding",) if writes else ("network.query_embedding", "network.decoder")
    spelt = isinstance(model.network, Network) and model.network.characters is not None  # the table only scores words
    words = () if spelt and not writes else ("token_embedding.",)
    return name.startswith((*words, "network.", "backward_network.")) and not name.startswith(idle)


def _level(group: str, top: int) -> int:
    """The lowest level that a group makes: 0 the embeddings, k layer k; a decoder and what is new follow the top."""
    body = layer_of(group)
    if body.startswith("encoder layer "):
        return int(body.rsplit(" ", 1)[1])
    return 0 if body == "embeddings" else top + 1


def numbered(texts: Dataset, base: Base) -> Dataset:
    """The texts on the base's device with example ids, so that their activations can be kept."""
    device = base.learner.device
    return base.remember(("texts", id(texts)), lambda: (texts, _numbered(texts.to(device))))[1]  # keeps what id names


def _numbered(texts: Dataset) -> Dataset:
    rows = torch.arange(len(texts.tokens.ids), device=texts.labels.device)
    return replace(texts, tokens=replace(texts.tokens, example_ids=rows), host=HostRows.of(texts))


def _draw(train: Dataset, size: int, seed: int, step: int) -> Dataset:
    device, how = train.labels.device, (len(train.labels), size, seed, step)
    return train.pick(order_on(device, *how), order(*how) if computes_beside(device) else None)


def order(number: int, size: int, seed: int, step: int) -> Tensor:
    """Which of so many texts a step reads: epochs over all of them, each in an order of its own."""
    begin, end = step * size, (step + 1) * size
    first = begin // number
    epochs = [_epoch(number, seed, epoch) for epoch in range(first, (end - 1) // number + 1)]
    return torch.cat(epochs)[begin - first * number : end - first * number]


def order_on(device: torch.device, number: int, size: int, seed: int, step: int) -> Tensor:
    """The same on a device."""
    if computes_beside(device):
        return _orders(device, number, size, seed, step // AHEAD)[step % AHEAD]
    return order(number, size, seed, step)


@lru_cache(maxsize=256)
def _orders(device: torch.device, number: int, size: int, seed: int, part: int) -> Tensor:
    """The orders of `AHEAD` steps, copied to a device at once, because every copy waits for it."""
    return torch.stack([order(number, size, seed, step) for step in range(part * AHEAD, (part + 1) * AHEAD)]).to(device)


@lru_cache(maxsize=256)
def _epoch(number: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(number, generator=generator(seed, "pass", epoch))


def distances(before: Mapping[str, list[Tensor]], after: Groups) -> tuple[float, ...]:
    """How far each group moved (Euclidean), exactly 0 where it was frozen; what is new counts as 0."""
    square: dict[str, Tensor] = {}
    for group, now in after.items():
        pairs = zip(now, before[group], strict=True) if group.startswith(BODY) else ()
        if each := [((p.detach() - old) ** 2).sum() for p, old in pairs]:
            square[group] = torch.stack(each).sum()
    moved = torch.stack([*square.values()]).sqrt().tolist() if square else []
    return tuple((dict.fromkeys(after, 0.0) | dict(zip(square, moved, strict=True))).values())
