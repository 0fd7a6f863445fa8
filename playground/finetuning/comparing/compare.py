"""Strategies side by side: every strategy on the same seeds, label subsets and steps."""

import time
from collections.abc import Collection, Generator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TypedDict

import torch

from playground.finetuning.comparing import budget_matching as budget
from playground.finetuning.comparing.significance import PairFacts, judge, leader, top_two
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.files import find_task
from playground.finetuning.data.input_format import format_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.measure import Result
from playground.finetuning.run.record import TrialRecord, fingerprint, key
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.trials import Stacks, Trial, TrialData, TrialEvent, plan_stacks, run
from playground.finetuning.strategy.compose import Unlike, difference, nothing_added, unlike
from playground.finetuning.strategy.find import find_strategy
from playground.finetuning.strategy.strategy import Strategy, Texts, texts_for
from playground.tokenizing import Tokenizer
from playground.training.parallel.seeds import MeanAndSd, spread, spread_if_measured
from playground.training.parallel.workers import Executor, computed_as_worker

TEST_TEXTS = 500

Outcomes = Mapping[str, Sequence[Result]]
"""The outcomes of each strategy, one for each seed."""


@dataclass(frozen=True)
class Allotted:
    """What a strategy got in a comparison: its steps, its rate with whose that is and where it stands, costs."""

    steps: int
    rate: float
    cost: budget.Cost
    held: budget.Held
    rate_from: str = ""
    rate_where: str = ""

    @property
    def memory(self) -> int:
        """All bytes that are held."""
        return self.held["weights"] + self.held["learning"] + self.held["activations"]


class StrategyMeans(TypedDict):
    """The two measures of a strategy at one number of labelled texts."""

    name: str
    """The strategy as it can be typed."""

    accuracy: MeanAndSd
    """The task's metric on unseen texts, usually the accuracy, 0 to 1."""

    forgetting: MeanAndSd | None
    """How far the pre-training loss rose, with added modules removed; null where the model has no head for it."""


class MixFacts(TypedDict):
    """A learned mix of the layers after some steps, the mean over the seeds (ELMo, arXiv:1802.05365, eq. 1)."""

    step: int
    """Steps so far; 0 is the start, where all levels have equal shares."""

    scale: float
    """The factor of the whole mix, gamma."""

    levels: list[float]
    """The share of each level, embeddings first."""


class StrategyFacts(StrategyMeans):
    """What a strategy got and what came of it, at the largest number of labelled texts."""

    levels: list[float]
    """The share of each level, embeddings first, in a learned mix of the layers; empty where none is learned."""

    mix: list[MixFacts]
    """The learned mix over the steps, from the start to the end; empty where none is learned."""

    measured: dict[str, MeanAndSd]
    """Every measure of the task, by its name."""

    trainable: int
    """The number of weights that learn in at least one step."""

    stored: int
    """The number of weights that have to be stored for this task."""

    seconds: float
    """Seconds of all seeds together."""

    groups: list[str]
    """The layer groups, the rows of `plan` and `moved`."""

    plan: list[list[float]]
    """For each layer group and step, the planned factor of the learning rate; 0 is frozen."""

    plugged_in: MeanAndSd | None
    """How far the pre-training loss rose, with added modules left in; null where it is not measured."""

    moved: list[float]
    """For each layer group, how far its weights moved (Euclidean distance), the mean over the seeds."""

    steps: int
    """Optimiser steps of each training."""

    rate: float
    """The learning rate."""

    rate_from: str
    """Whose learning rate it is; empty where nothing is trained."""

    rate_where: str
    """Where the learning rate was published, if it was."""

    tokens: float
    """Tokens that one training reads, estimated from its plan."""

    flops: float
    """Floating-point operations of one training, estimated from its plan."""

    memory: int
    """Bytes that a training step holds, the sum of `held`."""

    held: budget.Held
    """What the memory is made of."""


class UnlikeFacts(TypedDict):
    """Everything in which a strategy differs from the first."""

    name: str
    """The strategy."""

    things: list[Unlike]
    """For each difference: what it is, its value in the first strategy, and its value in this one."""


class CurvePoint(TypedDict):
    """All strategies at one number of labelled texts."""

    labels: int
    """The number of labelled texts."""

    strategies: list[StrategyMeans]
    against_first: list[PairFacts]
    """Every other strategy against the first."""


class ComparisonFacts(TypedDict):
    """A comparison of strategies in numbers."""

    task: str
    metric: str
    """The metric of the task; its value is `accuracy`."""

    labels: int
    """The largest number of labelled texts."""

    seeds: int
    """The number of seeds."""

    seconds: float
    """Seconds of the whole comparison."""

    unit: str
    """The unit of the pre-training loss and of forgetting."""

    strategies: list[StrategyFacts]
    """In the order in which they were named; the first is the baseline."""

    verdict: str
    """Which strategy leads, and whether the lead is larger than the noise between seeds."""

    chance: float | None
    """What a constant answer reaches; null where the metric has no chance level."""

    differences: list[str]
    """For every other strategy, in a sentence: what sets it apart from the first."""

    unlike: list[UnlikeFacts]
    """The same as data."""

    against_first: list[PairFacts]
    """Every other strategy against the first, at the largest number of labelled texts."""

    curve: list[CurvePoint]
    """A point for each number of labelled texts."""

    notices: list[str]
    """Notices: what was left out or done otherwise than asked for."""


@dataclass(frozen=True)
class Comparison:
    """All outcomes by strategy, in the order in which they were asked for, at the largest number of labelled texts.

    `curve` holds the outcomes at every number of labelled texts, `allotted` what each strategy got, `notices` why
    trials did not run the way that was asked for. `chance` is what guessing reaches, where the main number is a share
    of right answers, `texts` on how many texts each trial was tested, `all_texts` on how many different ones all trials
    of a strategy were, `unit` is that of the pre-training loss.
    """

    task: Task
    labels: int
    outcomes: dict[str, tuple[Result, ...]]
    seconds: float
    strategies: tuple[Strategy, ...] = ()
    curve: dict[int, dict[str, tuple[Result, ...]]] = field(default_factory=dict)
    allotted: dict[str, Allotted] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    chance: float | None = None
    texts: int = 0
    all_texts: int = 0
    unit: str = "nats"

    def facts(self) -> ComparisonFacts:
        """The promised JSON keys of `playground compare`."""
        pairs = [(other, self._as_run(other)) for other in self.strategies[1:]]
        curve = self.curve or {self.labels: self.outcomes}
        verdict, against_first = judge_curve(curve, self.chance, self.all_texts)
        return {
            "task": self.task.name,
            "metric": self.task.metric,
            "labels": self.labels,
            "seeds": max((len(o) for o in self.outcomes.values()), default=0),
            "seconds": self.seconds,
            "unit": self.unit,
            "strategies": [_facts(name, some, self.allotted[name]) for name, some in self.outcomes.items()],
            "verdict": verdict,
            "chance": self.chance,
            "differences": [difference(*pair) for _, pair in pairs],
            "unlike": [{"name": other.name, "things": unlike(*pair)} for other, pair in pairs],
            "against_first": against_first[self.labels],
            "curve": [
                {
                    "labels": labels,
                    "strategies": [_means(name, some) for name, some in outcomes.items()],
                    "against_first": against_first[labels],
                }
                for labels, outcomes in self.curve.items()
            ],
            "notices": list(self.notices),
        }

    def _as_run(self, other: Strategy) -> tuple[Strategy, Strategy, Unlike]:
        """The first strategy and another with the rates and the steps that they got here."""
        both = self.strategies[0], other
        got = [self.allotted.get(s.name) for s in both]
        one, two = (replace(s, rate=g.rate) if g else s for s, g in zip(both, got, strict=True))
        first, second = (str(g.steps) if g else "" for g in got)
        return one, two, ("steps", first, second)


@computed_as_worker
def compare(
    base: Base,
    tokenizer: Tokenizer,
    spec: ComparisonSpec,
    *,
    task: Task | None = None,
    chosen: Sequence[Strategy] = (),
    batch_size: int = FinetuneConfig.batch_size,
    looks: int = 0,
    record: TrialRecord | None = None,
    executor: Executor | None = None,
) -> Generator[TrialEvent | Comparison]:
    """Run every trial and yield its events; the last value is the `Comparison`.

    All trials start from the base as it is now, also where its own training continues meanwhile. `task` and `chosen`
    are those that the spec names, where they are known already; `looks` is how often a trial is evaluated between
    steps. Trials that the `record` knows are not run; an `executor` runs them elsewhere, with the same numbers
    (`training/parallel/dask_cluster.py`).
    """
    chosen = list(dict.fromkeys(chosen or spec.chosen))
    spec.check(chosen)
    began, task, record = time.perf_counter(), task or find_task(spec.task), record or TrialRecord()
    learner = replace_model(base.learner, deepcopy(base.learner.model))
    base = replace(base, learner=learner, tokenizer=tokenizer, task=task, memory={})
    rows = {"input_format": spec.input_format, "max_length": spec.max_length}
    work = _data(base, spec, texts_for(learner, task, chosen, tokenizer, **rows))
    setting = FinetuneConfig(spec.steps, batch_size, looks=looks, **rows)
    trials = _trials(work, spec, task, chosen, setting, record)
    stacks = plan_stacks(work, trials, spec.parallelism, spec.workers) if executor is None else None
    notices = _notices(work, spec, chosen, trials, stacks)
    results: dict[tuple[int, str, int], Result] = {}
    for trial_event in run(work, trials, spec.workers, record, executor, spec.parallelism):
        if isinstance(trial_event.event, Result):
            results[trial_event.labels, trial_event.strategy.name, trial_event.seed] = trial_event.event
        yield trial_event
    seeds, most, tests = work.test, max(spec.train_sizes), work.test.values()
    curve = {
        size: {s.name: tuple(results[at] for seed in seeds if (at := (size, s.name, seed)) in results) for s in chosen}
        for size in sorted(set(spec.train_sizes))
    }
    notices += _encoder_only(base, task, chosen, curve[most])
    shown = [trial for trial in trials if (trial.labels, trial.seed) == (most, spec.seed)]
    yield Comparison(
        task, most, curve[most], time.perf_counter() - began, tuple(chosen), curve,
        {trial.strategy.name: _allotted(work, trial, spec.lr_policy) for trial in shown}, notices,
        _chance(task, work, most), min(len(t.labels) for t in tests), count_different(tests), learner.entry.unit(),
    )  # fmt: skip


def _data(base: Base, spec: ComparisonSpec, texts: Texts) -> TrialData:
    """The base, the labelled texts of every size and seed, and the unseen texts of every seed."""
    seeds = range(spec.seed, spec.seed + spec.seeds)
    train = {(size, seed): texts(size, seed, "train") for size in sorted(set(spec.train_sizes)) for seed in seeds}
    return TrialData(base, train, {seed: texts(TEST_TEXTS, seed, "test") for seed in seeds})


def _notices(
    work: TrialData, spec: ComparisonSpec, chosen: Sequence[Strategy], trials: Sequence[Trial], stacks: Stacks | None
) -> tuple[str, ...]:
    """What is left out or done otherwise than asked for, as far as it is known before the first trial."""
    base = work.base
    suited = format_for(base.learner.model.shape, spec.input_format, spec.max_length)
    first = work.train[max(spec.train_sizes), spec.seed], work.test[spec.seed]
    steps = {trial.strategy.name: trial.setting.steps for trial in trials}
    return (
        *(line for some in first for line in some.notices),
        *(line for s in chosen for line in s.notices(base, *first, suited)),
        *describe_same(work.test.values()),
        *(stacks.notices if stacks else ()),
        *(line for s in chosen for line in nothing_added(s, [find_strategy(name) for name in s.made_of])),
        *base.notices,
        *(line for s, n in steps.items() for line in budget.describe_limit(s, n, spec.steps, spec.match)),
    )


def count_different(tests: Collection[Dataset]) -> int:
    """How many different texts several seeds are tested on, as the model reads them; a file has the same for all."""
    pairs = (zip(test.tokens.ids.tolist(), test.tokens.lengths.tolist(), strict=True) for test in tests)
    return len({tuple(row[:length]) for rows in pairs for row, length in rows}) // max(t.rows_each for t in tests)


def describe_same(tests: Collection[Dataset]) -> tuple[str, ...]:
    """A sentence where all seeds are tested on the same texts."""
    number = min(len(test.labels) for test in tests)
    said = f"All seeds are tested on the same {number:,} unseen texts, so a verdict is about these texts."
    return (said,) if len(tests) > 1 and count_different(tests) <= number else ()


def _chance(task: Task, work: TrialData, size: int) -> float | None:
    """The accuracy of a constant answer, the mean over the seeds, where that is the chance level."""
    guesses = [task.answer.guess(work.train[size, seed].labels, test.labels) for seed, test in work.test.items()]
    return fmean(guesses) if task.answer.has_chance else None


def _encoder_only(base: Base, task: Task, chosen: Sequence[Strategy], outcomes: Outcomes) -> tuple[str, ...]:
    """Where the decoder writes the answers: for each strategy with extra modules, what the decoder does."""
    if task.answer.about != "written" or not base.learner.model.shape.decoder_layers:
        return ()
    name = base.learner.entry.name
    return tuple(encoder_only(s, outcomes[s.name][0], name) for s in chosen if s.adapters)


def encoder_only(strategy: Strategy, outcome: Result, base: str) -> str:
    """A sentence on extra modules of a model whose decoder writes: where they are, and what the decoder does."""
    names = " and ".join(extra.name for extra in strategy.adapters)
    rows = [row for group, row in zip(outcome.groups, outcome.plan, strict=True) if group.startswith("decoder")]
    learns, steps = int((torch.stack(rows) != 0).any(dim=0).sum()), outcome.plan.shape[1]
    part = "" if learns == steps else f" in {learns} of {steps} steps"
    does = f"learns without them{part}" if learns else "stays frozen"
    return (
        f"The extra modules of {strategy.name} ({names}) are plugged into the encoder's layers only; the decoder of "
        f"{base} {does}."
    )


def _allotted(work: TrialData, trial: Trial, lr_policy: str) -> Allotted:
    if trial.strategy.prompt:
        return Allotted(0, 0.0, budget.Cost(0.0, 0.0), budget.held_at_rest(work.base.learner.model))
    train = work.train[trial.labels, trial.seed]
    run = Finetuner(work.base, trial.strategy, numbered(train, work.base), trial.setting, trial.seed)
    spent = budget.cost(work.base, trial.strategy, train, trial.setting, trial.seed, run)
    source, where = budget.rate_source(trial.strategy, lr_policy)
    return Allotted(trial.setting.steps, trial.strategy.rate, spent, budget.held(run), source, where)


def _trials(
    work: TrialData,
    spec: ComparisonSpec,
    task: Task,
    chosen: Sequence[Strategy],
    setting: FinetuneConfig,
    record: TrialRecord,
) -> list[Trial]:
    """All trials, for every number of labelled texts all strategies with the first seed, then with the next."""
    sizes, seed, trials, shared = sorted(set(spec.train_sizes)), spec.seed, [], dict[tuple[int, int], str]()
    for at, train in work.train.items():
        texts = [tensor for each in (train, work.test[at[1]]) for tensor in (each.tokens.ids, each.labels)]
        shared[at] = f"{task.name} {fingerprint(work.base, *texts)}"

    def rated(strategy: Strategy, size: int, own: FinetuneConfig) -> Strategy:
        if spec.lr_policy != "tuned":
            return budget.with_rate(strategy, spec.lr_policy)
        train = work.train[size, seed]
        known = key(strategy, seed, len(train.labels), own, shared[size, seed], "rate")
        if known not in record.known:  # a rate that was searched for is kept
            rate = budget.search_rate(work.base, strategy, train, own, seed)
            record.put(known, rate, strategy=strategy.name, what="rate")
        return replace(strategy, rate=record.known[known])

    fitted, sample = list[tuple[Strategy, FinetuneConfig]](), work.train[sizes[-1], seed]
    for strategy in chosen:
        steps = budget.matched_steps(work.base, chosen[0], strategy, sample, setting, spec.match, seed)
        fitted.append((budget.rescale_cells(strategy, steps, setting.steps), replace(setting, steps=steps)))
    for size in sizes:
        ready = [(rated(strategy, size, own), own) for strategy, own in fitted]
        trials += [Trial(s, n, size, own, key(s, n, size, own, shared[size, n])) for n in work.test for s, own in ready]
    return trials


def mixed_levels(facts: ComparisonFacts) -> list[str]:
    """How much of each level every learnt mix reads, in a sentence each (ELMo's s_j, arXiv:1802.05365, eq. 1)."""
    sentences = []
    for s in facts["strategies"]:
        shares = [f"{name} {share:.0%}" for name, share in zip(level_names(s["levels"]), s["levels"], strict=True)]
        sentences += [f"{s['name']} reads {', '.join(shares)}."] if shares else []
    return sentences


def level_names(shares: Sequence[float]) -> list[str]:
    """The names of the levels that a mix has."""
    return ["embeddings", *(f"layer {k}" for k in range(1, len(shares) - 1)), "the top"][: len(shares)]


def judge_curve(
    curve: Mapping[int, Outcomes], chance: float | None = None, texts: int = 0
) -> tuple[str, dict[int, list[PairFacts]]]:
    """The verdict on the best strategy, and at every number of labelled texts each strategy against the first.

    The verdict compares the best with the runner-up, over several numbers of texts by the mean over all of them. All
    comparisons are one family, so that chance alone makes any claim in at most 5 % of all tables.
    """
    points = {(size, s): [o.accuracy for o in some] for size, outcomes in curve.items() for s, some in outcomes.items()}
    first, *others = names = list(next(iter(curve.values())))
    means = {s: [fmean(each) for each in zip(*(points[size, s] for size in curve), strict=True)] for s in names}
    whole = next(iter(curve)) if len(curve) == 1 else 0  # the key of the means
    best = [((whole, one), (whole, two)) for one, two in top_two(means)]
    every = [((size, other), (size, first)) for size in curve for other in others]
    judged = judge({**points, **{(whole, s): some for s, some in means.items()}}, [*every, *best], chance, texts)
    lead = leader(means, "strategy", [judged[pair] for pair in best])
    if len(curve) > 1:
        lead = f"Over {min(curve)} to {max(curve)} labelled texts: {lead}"
        for (_, one), (_, two) in best:
            gaps = (f"{size} {fmean(points[size, one]) - fmean(points[size, two]):+.3f}" for size in curve)
            lead = f"{lead} {one} against {two} by number of texts: {', '.join(gaps)}."
    tables = {
        size: [PairFacts(**judged[(size, other), (size, first)], name=other, against=first) for other in others]
        for size in curve
    }
    return lead, tables


def _means(name: str, outcomes: Sequence[Result]) -> StrategyMeans:
    accuracy, forgetting = spread([o.accuracy for o in outcomes]), spread_if_measured([o.forgetting for o in outcomes])
    return {"name": name, "accuracy": accuracy, "forgetting": forgetting}


def _facts(name: str, outcomes: Sequence[Result], got: Allotted) -> StrategyFacts:
    first = outcomes[0]
    return {
        **_means(name, outcomes),
        "levels": [fmean(level) for level in zip(*(o.shares for o in outcomes), strict=True)],
        "mix": [
            {"step": round(step), "scale": scale, "levels": levels}
            for step, scale, *levels in torch.stack([o.mix for o in outcomes]).double().mean(0).tolist()
        ],
        "measured": {name: spread([o.measured[name] for o in outcomes]) for name in first.measured},
        "trainable": first.trainable,
        "stored": first.stored,
        "seconds": sum(o.seconds for o in outcomes),
        "groups": list(first.groups),
        "plan": first.plan.tolist(),
        "plugged_in": spread_if_measured([o.plugged_in for o in outcomes]),
        "moved": [fmean(group) for group in zip(*(o.moved for o in outcomes), strict=True)],
        "steps": got.steps,
        "rate": got.rate,
        "rate_from": got.rate_from,
        "rate_where": got.rate_where,
        "tokens": got.cost.tokens,
        "flops": got.cost.flops,
        "memory": got.memory,
        "held": got.held,
    }
