"""Strategies side by side: every strategy on the same seeds, label subsets and steps."""

import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

import torch

from playground.errors import Refusal
from playground.finetuning.comparing.budget_matching import Cost, cost, matched, rate_from, rated, searched, stretched
from playground.finetuning.comparing.significance import against, leader
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Classes, OfEach
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.memory import Held, held, held_at_rest
from playground.finetuning.run.record import Record, fingerprint, key
from playground.finetuning.run.scheduler import Elsewhere, Trial, TrialData, TrialEvent, arranged, run
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, Result, numbered
from playground.finetuning.strategy.compatibility import texts_for
from playground.finetuning.strategy.compose import Unlike, difference, nothing_added, unlike
from playground.finetuning.strategy.find import find_strategy
from playground.finetuning.strategy.strategy import Strategy
from playground.tokenizing import Tokenizer

TEST_TEXTS = 500

FIRST_CHOICE = ("feature-based", "full", "gradual unfreezing")
"""The strategies to begin with: nothing changes, everything changes, one thing after the other."""


@dataclass(frozen=True)
class Allotted:
    """What a strategy got in a comparison: its steps, its rate and where that comes from, what they cost and hold."""

    steps: int
    rate: float
    cost: Cost
    held: Held
    rate_from: str = ""


@dataclass(frozen=True)
class Comparison:
    """All outcomes by strategy, in the order in which they were asked for, at the largest number of labelled texts.

    `curve` holds the outcomes at every number of labelled texts, `allotted` what each strategy got, `told` why lanes
    did not run the way that was asked for. `chance` is what guessing reaches, where the main number is a share of right
    answers, `texts` on how many texts each lane was tested.
    """

    task: Task
    labels: int
    outcomes: dict[str, tuple[Result, ...]]
    seconds: float
    strategies: tuple[Strategy, ...] = ()
    curve: dict[int, dict[str, tuple[Result, ...]]] = field(default_factory=dict)
    allotted: dict[str, Allotted] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    chance: float | None = None
    texts: int = 0

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground compare`."""
        return {
            "task": self.task.name,
            "metric": self.task.metric,
            "labels": self.labels,
            "seeds": max((len(o) for o in self.outcomes.values()), default=0),
            "seconds": self.seconds,
            "strategies": [_facts(name, outcomes) | self._got(name) for name, outcomes in self.outcomes.items()],
            "verdict": verdict(self.curve or {self.labels: self.outcomes}, self.chance, self.texts),
            "chance": self.chance,
            "differences": [difference(*self._as_run(other)) for other in self.strategies[1:]],
            "unlike": [{"name": s.name, "things": unlike(*self._as_run(s))} for s in self.strategies[1:]],
            "against_first": against_first(self.outcomes, self.chance, self.texts),
            "curve": [_point(labels, outcomes, self.chance, self.texts) for labels, outcomes in self.curve.items()],
            "told": list(self.told),
        }

    def _as_run(self, other: Strategy) -> tuple[Strategy, Strategy, Unlike]:
        """The first strategy and another with the rates and the steps that they got here."""
        both = self.strategies[0], other
        got = [self.allotted.get(s.name) for s in both]
        one, two = (replace(s, rate=g.rate) if g else s for s, g in zip(both, got, strict=True))
        first, second = (str(g.steps) if g else "" for g in got)
        return one, two, ("steps", first, second)

    def _got(self, name: str) -> dict[str, Any]:
        got = self.allotted.get(name)
        if got is None:
            return {}
        spent = {"tokens": got.cost.tokens, "flops": got.cost.flops, "memory": got.held.total}
        return {"steps": got.steps, "rate": got.rate, "rate_from": got.rate_from, **spent, "held": asdict(got.held)}


def compare(
    base: Base,
    tokenizer: Tokenizer,
    task: Task,
    chosen: Sequence[Strategy],
    *,
    train_sizes: int | Sequence[int] = 64,
    seeds: int = 3,
    seed: int = 0,
    setting: FinetuneConfig | None = None,
    workers: int = 1,
    match: str = "steps",
    lr_policy: str = "own",
    record: Record | None = None,
    elsewhere: Elsewhere | None = None,
    parallelism: str = "auto",
) -> Iterator[TrialEvent | Comparison]:
    """Run every lane and yield its events; the last value is the `Comparison`.

    All lanes start from the base as it is now, also where its own training goes on meanwhile. With several `workers`,
    each a process with one thread, a lane's events come all at once; their numbers and their order are the same.
    A worker takes seconds to start, so a short comparison is done sooner without. `match` says what the lanes have
    alike beside seeds and texts, `rates` where learning rates come from; lanes that the `record` knows are not run.
    `elsewhere` runs the lanes on other machines, with the same numbers (`playground.cluster`). `parallelism` is
    "processes", "vmap" (lanes that read alike advance together as one model) or "auto": vmap on CUDA, else processes.
    """
    counts = _counts(train_sizes)
    _check(chosen, counts, seeds, workers)
    began, setting, record = time.perf_counter(), setting or FinetuneConfig(), record or Record()
    learner = replace_model(base.learner, deepcopy(base.learner.model))
    base = replace(base, learner=learner, tokenizer=tokenizer, task=task, memory={})
    chosen = list(dict.fromkeys(chosen))
    numbers = range(seed, seed + seeds)
    texts = texts_for(base.learner, task, chosen, tokenizer, setting.input_format)
    train = {(count, number): texts(count, number, "train") for count in counts for number in numbers}
    work = TrialData(base, train, unseen({number: texts(TEST_TEXTS, number, "test") for number in numbers}))
    jobs = _jobs(work, task, chosen, counts, numbers, setting, match, lr_policy, record)
    told = arranged(work, jobs, parallelism).told if elsewhere is None else ()
    told += tuple(said for s in chosen for said in nothing_added(s, [find_strategy(name) for name in s.made_of]))
    curve: dict[int, dict[str, dict[int, Result]]] = {count: {s.name: {} for s in chosen} for count in counts}
    for lane in run(work, jobs, workers, record, elsewhere, parallelism):
        if isinstance(lane.event, Result):
            curve[lane.labels][lane.strategy.name][lane.seed] = lane.event
        yield lane
    done = {
        count: {name: tuple(some[seed] for seed in sorted(some)) for name, some in named.items()}
        for count, named in curve.items()
    }
    if task.answer.about == "written" and base.learner.model.shape.decoder_layers:
        name = base.learner.entry.name
        told += tuple(encoder_only(s, done[counts[-1]][s.name][0], name) for s in chosen if s.extras)
    allotted = {
        job.strategy.name: _allotted(work, job, lr_policy)
        for job in jobs
        if job.seed == seed and job.labels == counts[-1]
    }
    seconds = time.perf_counter() - began
    chance, tested = _chance(task, work, counts[-1])
    yield Comparison(task, counts[-1], done[counts[-1]], seconds, tuple(chosen), done, allotted, told, chance, tested)


def encoder_only(strategy: Strategy, outcome: Result, base: str) -> str:
    """A sentence on extra modules of a model whose decoder writes: where they are, and what the decoder does."""
    names = " and ".join(extra.name for extra in strategy.extras)
    rows = [row for group, row in zip(outcome.groups, outcome.plan, strict=True) if group.startswith("decoder")]
    learns, steps = int((torch.stack(rows) != 0).any(dim=0).sum()), outcome.plan.shape[1]
    part = "" if learns == steps else f" in {learns} of {steps} steps"
    does = f"learns without them{part}" if learns else "stays frozen"
    return (
        f"The extra modules of {strategy.name} ({names}) are plugged into the encoder's layers only; the decoder of "
        f"{base} {does}."
    )


def unseen(tests: Mapping[int, Dataset]) -> dict[int, Dataset]:
    """The unseen texts of each seed, each draw kept once: what a file holds is the same for every seed."""
    kept: dict[int, Dataset] = {}
    for seed, texts in tests.items():
        same = (t for t in kept.values() if torch.equal(t.tokens.ids, texts.tokens.ids))
        kept[seed] = next(same, texts)
    return kept


def _chance(task: Task, work: TrialData, labels: int) -> tuple[float | None, int]:
    """What whoever knows only how frequent the answers are gets right, on average over the seeds, and of how many."""
    tested = min(len(test.labels) for test in work.test.values())
    if not isinstance(task.answer, Classes | OfEach):
        return None, tested
    seeds = work.test.items()
    return fmean(task.answer.guess(work.train[labels, seed].labels, test.labels) for seed, test in seeds), tested


def _allotted(work: TrialData, job: Trial, rates: str) -> Allotted:
    if job.strategy.prompt:
        return Allotted(0, 0.0, Cost(0.0, 0.0), held_at_rest(work.base.learner.model))
    train = work.train[job.labels, job.seed]
    run = Finetuner(work.base, job.strategy, numbered(train, work.base), job.setting, job.seed)
    spent = cost(work.base, job.strategy, train, job.setting, job.seed, run)
    return Allotted(job.setting.steps, job.strategy.rate, spent, held(run), rate_from(job.strategy, rates))


def _counts(labels: int | Sequence[int]) -> list[int]:
    """The numbers of labelled texts, each once, from few to many."""
    return sorted({labels} if isinstance(labels, int) else set(labels))


def _check(chosen: Sequence[Strategy], counts: Sequence[int], seeds: int, workers: int) -> None:
    """Refuse what cannot be compared."""
    if not chosen:
        raise Refusal("No strategy is named; name at least one.")
    names = [s.name for s in dict.fromkeys(chosen)]
    if len(names) > len(set(names)):
        raise Refusal(f"Two different strategies have one name ({', '.join(names)}); give one of them another.")
    if workers < 1:
        raise Refusal(f"workers is {workers}; at least 1 is needed.")
    if not counts or min(counts) < 2 or seeds < 1:
        said = ", ".join(map(str, counts)) or "empty"
        raise Refusal(f"labels is {said} and seeds is {seeds}; at least 2 labels and 1 seed are needed.")


def _jobs(
    work: TrialData,
    task: Task,
    chosen: Sequence[Strategy],
    counts: Sequence[int],
    numbers: Sequence[int],
    setting: FinetuneConfig,
    match: str,
    rates: str,
    record: Record,
) -> list[Trial]:
    """All lanes, for every number of labelled texts all strategies with the first seed, then with the next."""
    sample = work.train[counts[-1], numbers[0]]
    shared = {seed: f"{task.name} {fingerprint(work.base, test.tokens.ids)}" for seed, test in work.test.items()}
    fitted: list[tuple[Strategy, FinetuneConfig]] = []
    for strategy in chosen:
        steps = matched(work.base, chosen[0], strategy, sample, setting, match, numbers[0])
        fitted.append((stretched(strategy, steps, setting.steps), replace(setting, steps=steps)))
    jobs = []
    for count in counts:
        first = work.train[count, numbers[0]]
        asked = [
            (_rated(work.base, s, first, own, numbers[0], rates, shared[numbers[0]], record), own) for s, own in fitted
        ]
        jobs += [
            Trial(s, number, count, own, key(s, number, count, own, shared[number]))
            for number in numbers
            for s, own in asked
        ]
    return jobs


def _rated(
    base: Base,
    strategy: Strategy,
    train: Any,
    setting: FinetuneConfig,
    seed: int,
    rates: str,
    shared: str,
    record: Record,
) -> Strategy:
    """The strategy with its rate by the rule; a rate that was searched for is kept in the record."""
    if rates != "tuned":
        return rated(strategy, rates)
    known = key(strategy, seed, len(train.labels), setting, shared, "rate")
    if known not in record.known:
        record.put(known, searched(base, strategy, train, setting, seed), strategy=strategy.name, what="rate")
    return replace(strategy, rate=record.known[known])


def mixed_levels(facts: dict[str, Any]) -> list[str]:
    """How much of each level every learnt mix reads, in a sentence each (ELMo's s_j, arXiv:1802.05365, eq. 1)."""
    return [f"{s['name']} reads {_levels(s['levels'])}." for s in facts["strategies"] if s["levels"]]


def _levels(shares: Sequence[float]) -> str:
    names = ["embeddings", *(f"layer {k}" for k in range(1, len(shares) - 1)), "the top"]
    return ", ".join(f"{name} {share:.0%}" for name, share in zip(names, shares, strict=True))


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, sample standard deviation (0 for a single value) and the values themselves."""
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0, "values": list(values)}


def _point(labels: int, outcomes: dict[str, tuple[Result, ...]], chance: float | None, texts: int) -> dict[str, Any]:
    """Accuracy and forgetting at one number of labelled texts, and paired differences to the first strategy."""
    named = [
        {"name": name} | {what: spread([getattr(o, what) for o in some]) for what in ("accuracy", "forgetting")}
        for name, some in outcomes.items()
    ]
    return {"labels": labels, "strategies": named, "against_first": against_first(outcomes, chance, texts)}


def against_first(
    outcomes: dict[str, tuple[Result, ...]], chance: float | None = None, texts: int = 0
) -> list[dict[str, Any]]:
    """Every strategy against the first: the mean paired difference in accuracy, its 95 % interval, and what it says."""
    (first, reference), *others = _accuracies(outcomes).items()
    return [gap | {"against": first} for gap in against(reference, dict(others), chance, texts)]


def _accuracies(outcomes: Mapping[str, Sequence[Result]]) -> dict[str, list[float]]:
    return {name: [o.accuracy for o in some] for name, some in outcomes.items()}


def _facts(name: str, outcomes: Sequence[Result]) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "name": name,
        "levels": [fmean(level) for level in zip(*(o.shares for o in outcomes), strict=True)],
        "accuracy": spread([o.accuracy for o in outcomes]),
        "measured": {name: spread([o.measured[name] for o in outcomes]) for name in first.measured},
        "forgetting": spread([o.forgetting for o in outcomes]),
        "trainable": first.trainable,
        "stored": first.stored,
        "seconds": sum(o.seconds for o in outcomes),
        "groups": list(first.groups),
        "plan": first.plan.tolist(),
        "plugged_in": spread([o.plugged_in for o in outcomes]),
        "moved": [fmean(group) for group in zip(*(o.moved for o in outcomes), strict=True)],
    }


def verdict(curve: Mapping[int, Mapping[str, Sequence[Result]]], chance: float | None = None, texts: int = 0) -> str:
    """Whether the best strategy's lead on the runner-up is larger than the noise between seeds (paired).

    Where there are several numbers of labelled texts it speaks of all of them: of the mean over the curve, and of each.
    """
    points = {labels: _accuracies(outcomes) for labels, outcomes in curve.items()}
    names = list(next(iter(points.values())))
    whole = {
        name: [fmean(each) for each in zip(*(point[name] for point in points.values()), strict=True)] for name in names
    }
    said = leader(whole, "strategy", chance, texts * len(points))
    if len(points) < 2:
        return said
    return f"Over {min(points)} to {max(points)} labelled texts: {said}{_by_number(points, whole, chance, texts)}"


def _by_number(
    points: Mapping[int, Mapping[str, Sequence[float]]],
    whole: Mapping[str, Sequence[float]],
    chance: float | None,
    texts: int,
) -> str:
    """The lead of the best strategy on the next at every number of labelled texts, in a sentence."""
    best, second, *_ = (*sorted(whole, key=lambda name: -fmean(whole[name])), "", "")
    if not second or len(whole[best]) < 2:
        return ""
    gaps = [(labels, against(point[second], {best: point[best]}, chance, texts)[0]) for labels, point in points.items()]
    clear = sum(gap["larger"] and gap["difference"] > 0 for _, gap in gaps)
    each = ", ".join(f"{labels} {gap['difference']:+.3f}" for labels, gap in gaps)
    return f" {best} against {second} by number of texts: {each}; larger than the noise at {clear} of {len(gaps)}."
