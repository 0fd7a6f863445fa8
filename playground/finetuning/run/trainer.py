"""One fine-tuning run: the plan decides every learning rate, and what is frozen stays bit-identical."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import torch
from torch import Tensor, nn

from playground.corpora.corpus import pick
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.prompting import prompted
from playground.finetuning.run.activation_cache import ActivationCache, CachedReader
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.strategy.extra_features import ExtraFeatures
from playground.finetuning.strategy.head import AnyHead, new_head
from playground.finetuning.strategy.losses import StepContext, TermContext
from playground.finetuning.strategy.semi_supervised import CrossViewTraining, PseudoLabels, without_labels
from playground.finetuning.strategy.strategy import OTHER, Strategy
from playground.finetuning.strategy.weight_averaging import WeightAverage
from playground.models import make_model
from playground.models.adapters import Attached, attach, make_adapter
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.zoo.recipe import BETAS

HEAD = "task head"

SEEN = 128
"""Unseen texts that a look on the way reads."""
BODY = ("embeddings", "encoder", "decoder")
"""How the groups of the pre-trained model begin."""

FEW = 4
"""Texts that are looked at first where everything is expected to differ."""

BLOCK = 128
"""Unseen texts that are answered at once."""

Groups = dict[str, tuple[nn.Parameter, ...]]


@dataclass(frozen=True)
class FinetuneConfig:
    """What all lanes of a comparison share.

    `keeps` says whether what does not change is computed once per text, `packing` how texts become rows where it is
    not the way that suits the model. `looks` is how often accuracy, forgetting and the distances moved are measured
    on the way, for curves that move.
    """

    steps: int = 80
    batch_size: int = 16
    keeps: bool = True
    input_format: str | None = None
    looks: int = 0


@dataclass(frozen=True)
class MidRunEval:
    """A look at a run on its way: accuracy on some unseen texts, forgetting in nats, how far each group has moved.

    `sizes` are the numbers of weights of the groups.
    """

    accuracy: float
    forgetting: float
    moved: tuple[float, ...]
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class StepEvent:
    """One finished step of a fine-tuning run; `rates` `[g]` are the learning rates the optimiser used in it."""

    step: int
    loss: float
    rates: Tensor
    look: MidRunEval | None = None


@dataclass(frozen=True)
class Result:
    """What a run has to show: accuracy on unseen texts, forgetting in nats, numbers of parameters, seconds.

    `plan` `[g, s]` was planned, `rates` `[g, s]` was used; `moved` is the distance each group moved. Forgetting is
    measured with the extra modules taken out, `plugged_in` with them in their places; `unchanged` says whether the
    model, without them, then gives bit for bit what it gave before; `shares` is how much of each level a learnt mix
    reads; `measured` are all numbers of the task, of which the accuracy is the main one; `sizes` are the numbers of
    weights of the groups.
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
    plugged_in: float = 0.0
    shares: tuple[float, ...] = ()
    unchanged: bool = False
    measured: Mapping[str, float] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()


def tune(
    base: Base, strategy: Strategy, train: Dataset, test: Dataset, setting: FinetuneConfig, seed: int
) -> Iterator[StepEvent | Result]:
    """Fine-tune a copy of the base; every step is a `StepEvent`, the last value is the `Result`."""
    if strategy.prompt:
        yield asked(base, strategy, numbered(train, base), numbered(test, base), setting)
        return
    began = time.perf_counter()
    run = Finetuner(base, strategy, numbered(train, base), setting, seed)
    seconds = time.perf_counter() - began
    for step in range(setting.steps):
        began = time.perf_counter()
        loss = run.learn(step)
        seconds += time.perf_counter() - began
        yield StepEvent(step + 1, loss, run.rates[:, step], run.look(test, step))
    yield run.outcome(numbered(test, base), seconds)


@torch.no_grad()
def asked(base: Base, strategy: Strategy, train: Dataset, test: Dataset, setting: FinetuneConfig) -> Result:
    """What a model says that is only asked: no step, no new weight, nothing forgotten."""
    assert strategy.prompt is not None
    model = base.learner.model
    measured = test.answer.measure(prompted(model, strategy.prompt, train, test), test.labels)
    named = parameters(model, nn.Module())
    groups = tuple(named)
    still = torch.zeros(len(groups), setting.steps)
    return Result(
        measured["accuracy"],
        0.0,
        0,
        0,
        0.0,
        groups,
        still,
        still,
        (0.0,) * len(groups),
        unchanged=True,
        measured=measured,
        sizes=tuple(sum(p.numel() for p in some) for some in named.values()),
    )


@dataclass(frozen=True)
class Other:
    """Another task that is learnt too: its texts, its head, and its own extra modules where each task has its own."""

    texts: Dataset
    head: AnyHead
    extras: tuple[Attached | None, ...]

    @property
    def parts(self) -> tuple[nn.Module, ...]:
        """What belongs to this task alone."""
        return (self.head, *(extra.modules for extra in self.extras if extra is not None))


class Finetuner:
    """A copy of the base on its way to a task."""

    def __init__(self, base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int) -> None:
        self.base, self.strategy, self.setting, self.seed = base, strategy, setting, seed
        self.train = train = self.prepared(train)
        self.model = started(base.learner.model, strategy.fresh, seed)
        self.learner = replace_model(base.learner, self.model)
        self.head = self._head_for(train)
        self.extras = [attach(kind, self.model, generator(seed, "extra", kind.name)) for kind in strategy.extras]
        self.model.requires_grad_(False)
        self.others = [self._other(number, texts) for number, texts in enumerate(self._other_texts())]
        extras = {e.kind.name: e.modules for e in self.extras}
        extras |= {OTHER: nn.ModuleList(part for other in self.others for part in other.parts)} if self.others else {}
        self.groups = parameters(self.model, self.head, extras, strategy.apart, train.written is not None)
        self.start = {g: [p.detach().clone() for p in ps] for g, ps in self.groups.items()}
        self.plan = strategy.plan(tuple(self.groups), setting.steps)
        self.rates = torch.zeros_like(self.plan)
        self.columns: list[list[float]] = (strategy.rate * self.plan).T.tolist()
        self.optimiser = torch.optim.AdamW(
            [{"params": list(p), "lr": 0.0, "learns": None} for p in self.groups.values()],
            betas=BETAS, weight_decay=0.01, fused=True,
        )  # fmt: skip
        self.levels = [_level(group, self.model.top_hidden_state) for group in self.groups]
        self.reader = self._reader(train)
        self.terms = [(t, t.begin(self.as_start())) for t in (*strategy.penalties, *strategy.beside)]
        self.mean = WeightAverage(self._every())

    def learn(self, step: int) -> float:
        """One step of the optimiser; the loss of the task."""
        self._thaw(step)
        drawn = _draw(self.train, self.setting.batch_size, self.seed, step)
        alone = any(step < int(getattr(term, "lm_fraction", 0.0) * self.setting.steps) for term, _ in self.terms)
        with torch.set_grad_enabled(not alone):
            scores = self.head(self.reader.read(drawn.tokens, self.frozen(step)), drawn)
            loss = drawn.answer.loss(scores, drawn.labels)
        total = sum(
            (ask(StepContext(step, drawn, scores)) for _, ask in self.terms), torch.zeros(()) if alone else loss
        )
        if total.requires_grad:  # else everything is frozen in this step
            total.backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.note(step, torch.tensor([g["lr"] for g in self.optimiser.param_groups]))
        return float(loss.detach())

    def look(self, test: Dataset, step: int) -> MidRunEval | None:
        """What a look shows after a step, None in most steps; it changes nothing."""
        looks, steps = self.setting.looks, self.setting.steps
        if (step + 1) * looks // steps == step * looks // steps:
            return None
        index = torch.arange(min(SEEN, len(test.labels)), device=test.labels.device)
        some = self.base.remember(("some", id(test)), lambda: test.pick(index))
        right = self._measured(numbered(some, self.base))["accuracy"]
        forgetting = self._forgotten() if self._body_changed() or self.extras else 0.0
        return MidRunEval(right, forgetting, tuple(distances(self.start, self.groups)), self.sizes)

    def outcome(self, test: Dataset, seconds: float) -> Result:
        """What the run has to show after its last step."""
        measured = self._measured(test)
        plugged_in = self._forgotten() if self.extras else None
        for extra in self.extras:
            extra.detach()
        forgetting = self._forgotten() if self._body_changed() else 0.0
        thawed = [g for g, row in zip(self.groups, self.plan, strict=True) if bool(row.any())]
        new = {g for g, level in zip(self.groups, self.levels, strict=True) if self._is_fresh(level)}
        return Result(
            accuracy=measured["accuracy"],
            forgetting=forgetting,
            trainable=self._count(thawed),
            stored=self._count({*thawed, *new} - {OTHER}),
            seconds=seconds,
            groups=tuple(self.groups),
            plan=self.plan,
            rates=self.rates,
            moved=tuple(distances(self.start, self.groups)),
            plugged_in=forgetting if plugged_in is None else plugged_in,
            shares=self.head.shares,
            unchanged=self._unchanged(),
            measured=measured,
            sizes=self.sizes,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many weights each group has."""
        return tuple(self._count([group]) for group in self.groups)

    def _thaw(self, step: int) -> None:
        for group, rate in zip(self.optimiser.param_groups, self.columns[step], strict=True):
            if group["learns"] != (rate != 0.0):
                group["learns"] = rate != 0.0
                for parameter in group["params"]:
                    parameter.requires_grad_(group["learns"])
            group["lr"] = rate

    def note(self, step: int, rates: Tensor) -> None:
        """Write down the rates `[g]` that were used, and what is no longer as it was."""
        self.rates[:, step] = rates
        self.reader.changed(self.frozen(step) + 1)
        first = self.setting.steps - max(1, int(self.strategy.averaged * self.setting.steps))
        if self.strategy.averaged and step >= first:
            self.mean.take()
            if step + 1 == self.setting.steps:
                self.mean.put()

    def frozen(self, step: int) -> int:
        """The highest level below everything that learns in a step."""
        learning = [k for k, m in zip(self.levels, self.plan[:, step].tolist(), strict=True) if m]
        return min(learning, default=self.model.top_hidden_state + 1) - 1

    def _reader(self, texts: Dataset) -> CachedReader:
        shared = self.base.remember(("kept", id(texts.tokens.ids)), lambda: ActivationCache(texts.tokens))
        same = {"encoder": 0, "layers": 0, "everything": -1}.get(self.strategy.fresh, self.model.top_hidden_state)
        quiet = 0 if self.extras else self.model.top_hidden_state
        return CachedReader(self.model, self.head.levels, shared, same, quiet, self.setting.keeps)

    def as_start(self) -> TermContext:
        named = {n: p for n, p in self.model.named_parameters() if _reads(n, self.train.written is not None)}
        return TermContext(
            self.base, self.learner, named, self._every(), self._score_anew, self._embedded, self._other_loss,
            self._unlabelled, self.seed, self.setting.steps, self.train,
        )  # fmt: skip

    def _every(self) -> tuple[nn.Parameter, ...]:
        return tuple(p for ps in self.groups.values() for p in ps)

    def _score_anew(self, drawn: Dataset, embedded: Tensor | None = None) -> Tensor:
        if embedded is None:
            return self.head(self.reader.read(drawn.tokens), drawn)
        top = self.model.top_hidden_state
        levels = self.model.hidden_states(drawn.tokens, embedded, 0, top) if top else [embedded]
        return self.head(dict(enumerate(levels)), drawn)

    def _embedded(self, drawn: Dataset) -> Tensor:
        return self.model.hidden_states(drawn.tokens, last=0)[0]

    def _head_for(self, texts: Dataset) -> AnyHead:
        given = 0 if texts.given is None else texts.given.shape[-1]
        return new_head(self.model, texts.answer, self.seed, self.strategy.head, texts.sides is not None, given)

    def prepared(self, texts: Dataset) -> Dataset:
        """The texts with what the strategy gives beside their words; made once for all lanes."""
        for given in sorted(self.strategy.given, key=lambda given: not given.first):
            make = partial(_given, given, self.base, texts)
            _, texts = self.base.remember(("given", given, id(texts.tokens.ids)), make)
        return texts

    def _other_texts(self) -> tuple[Dataset, ...]:
        others = self.strategy.others
        found = others.texts(self.base, self.setting.input_format) if others else ()
        return tuple(self.prepared(numbered(texts, self.base)) for texts in found)

    def _other(self, number: int, texts: Dataset) -> "Other":
        """Another task, with a head of its own and those extra modules of which each task has its own."""
        rngs = (generator(self.seed, "extra", e.kind.name, "of task", number) for e in self.extras)
        own = (
            make_adapter(e.kind, self.model, rng) if e.kind.for_each_task else None
            for e, rng in zip(self.extras, rngs, strict=True)
        )  # fmt: skip
        return Other(texts, self._head_for(texts), tuple(own))

    def _other_loss(self, step: int) -> Tensor:
        """The loss of a batch of another task; they take turns."""
        turn, number = divmod(step, len(self.others))
        other = self.others[number]
        drawn = _draw(other.texts, self.setting.batch_size, self.seed, turn)
        with ExitStack() as modules:
            for own, task in zip(other.extras, self.extras, strict=True):
                if own is not None:
                    modules.enter_context(own.instead_of(task))
            levels = dict(enumerate(self.model.hidden_states(drawn.tokens)))
        return drawn.answer.loss(other.head(levels, drawn), drawn.labels)

    def _unlabelled(self, step: int) -> Dataset:
        term = next(term for term in self.strategy.beside if isinstance(term, PseudoLabels | CrossViewTraining))
        texts = self.prepared(numbered(without_labels(term, self.base, self.setting.input_format), self.base))
        drawn = _draw(texts, self.setting.batch_size, self.seed, step)
        return replace(drawn, tokens=replace(drawn.tokens, example_ids=None))

    def _is_fresh(self, level: int) -> bool:
        fresh, above = self.strategy.fresh, level > self.model.top_hidden_state
        return {"everything": True, "layers": level > 0, "encoder": level > 0 and not above}.get(
            fresh, fresh == "decoder" and above
        )

    def _body_changed(self) -> bool:
        rows = [row.any() for row, group in zip(self.plan, self.groups, strict=True) if group.startswith(BODY)]
        return bool(self.strategy.fresh) or any(map(bool, rows))

    @torch.no_grad()
    def _unchanged(self) -> bool:
        text, few = self.base.measured, torch.arange(FEW, device=self.base.measured.ids.device)
        before = self.base.remember("features", lambda: self.base.learner.model.features(text))
        if len(text.ids) > FEW and self._body_changed():  # a few texts tell as much, if they differ
            first = self.base.remember("few", lambda: self.base.learner.model.features(pick(text, few)))
            if not torch.equal(first, self.model.features(pick(text, few))):
                return False
        return torch.equal(before, self.model.features(text))

    def _forgotten(self) -> float:
        """The rise of the pre-training loss; of ELECTRA's two questions the last, for the other is its generator's."""
        before = self.base.remember("before", lambda: self.base.learner.evaluate(self.base.measured))
        asked = list(before)[-1]
        return self.learner.evaluate(self.base.measured)[asked] - before[asked]

    @torch.no_grad()
    def _measured(self, test: Dataset) -> dict[str, float]:
        """How well unseen texts are answered."""
        test = self.prepared(test)
        reader = self._reader(test)
        reader.same = min(reader.same, self.reader.same)
        blocks = [test.pick(index) for index in torch.arange(len(test.labels), device=test.labels.device).split(BLOCK)]
        scores = torch.cat([self.head(reader.read(some.tokens, reader.same), some) for some in blocks])
        return test.answer.measure(scores, test.labels)

    def _count(self, groups: Iterable[str]) -> int:
        return sum(p.numel() for g in groups for p in self.groups[g])


def _given(given: ExtraFeatures, base: Base, texts: Dataset) -> tuple[Dataset, Dataset]:
    """What a text was, which must live on for its id to name it, and what it became, numbered."""
    made = given.prepare(base, texts)
    rows = torch.arange(len(made.tokens.ids), device=made.labels.device)
    return texts, replace(made, tokens=replace(made.tokens, example_ids=rows))


def started(pre_trained: LanguageModel, fresh: str, seed: int) -> LanguageModel:
    """A copy of the pre-trained model; what is fresh has new weights that depend on the seed alone."""
    model = deepcopy(pre_trained)
    if fresh:
        anew = make_model(model.shape, model.token_embedding.num_embeddings, generator(seed, "fresh weights"))
        kept = set(model.groups()["embeddings"]) if fresh == "layers" else set()
        part = f"network.{fresh}." if fresh in ("encoder", "decoder") else ""
        new = {n: p for n, p in anew.state_dict().items() if n not in kept and n.startswith(part)}
        model.load_state_dict(new, strict=False)
    return model


def parameters(
    model: LanguageModel,
    head: nn.Module,
    extras: Mapping[str, nn.Module] | None = None,
    apart: str = "",
    writes: bool = False,
) -> Groups:
    """The parameters that reading a text uses (and writing one), by layer group from the bottom up; new ones last."""
    named = dict(model.named_parameters())
    found: Groups = {}
    for group, names in model.groups().items():
        for row, some in _rows(group, [n for n in names if _reads(n, writes)], apart):
            found |= {row: tuple(named[n] for n in some)} if some else {}
    new = {name: tuple(module.parameters()) for name, module in (extras or {}).items()}
    return {**found, **new, HEAD: tuple(head.parameters())}


def _rows(group: str, names: list[str], apart: str) -> Iterator[tuple[str, list[str]]]:
    """One row for a group, or two where its biases stand apart."""
    biases = [n for n in names if apart == "biases" and n.endswith(".bias")]
    yield group, [n for n in names if n not in biases]
    yield f"{group} biases", biases


def _reads(name: str, writes: bool = False) -> bool:
    """Whether reading a plain text uses this parameter (the pre-training heads and the other networks do not)."""
    idle = ("network.query_embedding",) if writes else ("network.query_embedding", "network.decoder")
    return name.startswith(("token_embedding.", "network.", "backward_network.")) and not name.startswith(idle)


def _level(group: str, top: int) -> int:
    """The lowest level that a group makes: 0 the embeddings, k layer k; a decoder and what is new follow the top."""
    body = group.removesuffix(" biases")
    if body.startswith("encoder layer "):
        return int(body.rsplit(" ", 1)[1])
    return 0 if body == "embeddings" else top + 1


def numbered(texts: Dataset, base: Base) -> Dataset:
    """The texts on the base's device, numbered, so that what is known of each can be kept."""

    def number() -> tuple[Dataset, Dataset]:
        there = texts.to(base.learner.device)
        rows = torch.arange(len(there.tokens.ids), device=there.labels.device)
        return texts, replace(there, tokens=replace(there.tokens, example_ids=rows))

    return base.remember(("texts", id(texts)), number)[1]


def _draw(train: Dataset, size: int, seed: int, step: int) -> Dataset:
    """The batch of a step."""
    return train.pick(order(len(train.labels), size, seed, step).to(train.labels.device))


def order(number: int, size: int, seed: int, step: int) -> Tensor:
    """Which of so many texts a step reads: passes over all of them, in an order of its own each time."""
    begin, end = step * size, (step + 1) * size
    first = begin // number
    passes = [_order(number, seed, p) for p in range(first, (end - 1) // number + 1)]
    return torch.cat(passes)[begin - first * number : end - first * number]


@lru_cache(maxsize=256)
def _order(number: int, seed: int, one: int) -> Tensor:
    """The order of one pass, the same for every strategy."""
    return torch.randperm(number, generator=generator(seed, "pass", one))


def distances(before: Mapping[str, list[Tensor]], after: Groups) -> Iterator[float]:
    """How far each group moved (Euclidean), exactly 0 where it was frozen; what is new counts as 0."""
    for group, parameters_of_group in after.items():
        known = group.startswith(BODY)
        pairs = zip(parameters_of_group, before[group], strict=True)
        square = [((p.detach() - old) ** 2).sum() for p, old in pairs] if known else []
        yield float(torch.stack(square).sum().sqrt()) if square else 0.0
