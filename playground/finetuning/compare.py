"""Strategies side by side: every strategy on the same seeds, label subsets and steps."""

import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from playground.finetuning.base import Base, replace_model
from playground.finetuning.compose import difference
from playground.finetuning.lanes import Lane, Work, run
from playground.finetuning.strategy import Strategy
from playground.finetuning.suits import texts_for
from playground.finetuning.task import Task
from playground.finetuning.tune import Outcome, Setting
from playground.refusal import Refusal
from playground.tokenizing import Tokenizer

TEST_TEXTS = 500

FIRST_CHOICE = ("feature-based", "full", "gradual unfreezing")
"""The strategies to begin with: nothing changes, everything changes, one thing after the other."""


@dataclass(frozen=True)
class Comparison:
    """All outcomes by strategy, in the order in which they were asked for."""

    task: Task
    labels: int
    outcomes: dict[str, tuple[Outcome, ...]]
    seconds: float
    strategies: tuple[Strategy, ...] = ()

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground compare`."""
        return {
            "task": self.task.name,
            "metric": self.task.metric,
            "labels": self.labels,
            "seeds": max((len(o) for o in self.outcomes.values()), default=0),
            "seconds": self.seconds,
            "strategies": [_facts(name, outcomes) for name, outcomes in self.outcomes.items()],
            "verdict": verdict(self.outcomes),
            "differences": [difference(self.strategies[0], other) for other in self.strategies[1:]],
        }


def compare(
    base: Base,
    tokenizer: Tokenizer,
    task: Task,
    chosen: Sequence[Strategy],
    *,
    labels: int = 64,
    seeds: int = 3,
    seed: int = 0,
    setting: Setting | None = None,
    workers: int = 1,
) -> Iterator[Lane | Comparison]:
    """Run every lane and yield its events; the last value is the `Comparison`.

    All lanes start from the base as it is now, also where its own training goes on meanwhile. With several `workers`,
    each a process with one thread, a lane's events come all at once; their numbers and their order are the same.
    A worker takes seconds to start, so a short comparison is done sooner without.
    """
    if not chosen:
        raise Refusal("No strategy is named; name at least one.")
    names = [s.name for s in dict.fromkeys(chosen)]
    if len(names) > len(set(names)):
        raise Refusal(f"Two different strategies have one name ({', '.join(names)}); give one of them another.")
    if workers < 1:
        raise Refusal(f"workers is {workers}; at least 1 is needed.")
    if labels < 2 or seeds < 1:
        raise Refusal(f"labels is {labels} and seeds is {seeds}; at least 2 labels and 1 seed are needed.")
    began, setting = time.perf_counter(), setting or Setting()
    base = replace(base, learner=replace_model(base.learner, deepcopy(base.learner.model)), memory={})
    chosen = list(dict.fromkeys(chosen))
    numbers = range(seed, seed + seeds)
    texts = texts_for(base.learner, task, chosen, tokenizer, setting.packing)
    train = {number: texts(labels, number, "train") for number in numbers}
    work = Work(base, train, texts(TEST_TEXTS, 0, "test"), setting)
    outcomes: dict[str, list[Outcome]] = {s.name: [] for s in chosen}
    for lane in run(work, [(strategy, number) for number in numbers for strategy in chosen], workers):
        if isinstance(lane.event, Outcome):
            outcomes[lane.strategy.name].append(lane.event)
        yield lane
    done = {name: tuple(values) for name, values in outcomes.items()}
    yield Comparison(task, labels, done, time.perf_counter() - began, tuple(chosen))


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, sample standard deviation (0 for a single value) and the values themselves."""
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0, "values": list(values)}


def _facts(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "name": name,
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


def verdict(outcomes: dict[str, tuple[Outcome, ...]]) -> str:
    """Whether the best strategy's lead on the runner-up is larger than the noise between seeds (paired)."""
    ranked = sorted(outcomes.items(), key=lambda item: -fmean(o.accuracy for o in item[1]))
    if len(ranked) < 2 or len(ranked[0][1]) < 2:
        return "One strategy or one seed cannot be compared; take at least two of each."
    (best, first), (second, other) = ranked[:2]
    gaps = [a.accuracy - b.accuracy for a, b in zip(first, other, strict=True)]
    mean, error = fmean(gaps), stdev(gaps) / len(gaps) ** 0.5
    said = f"{best} leads {second} by {mean:.3f} on average over {len(gaps)} seeds (standard error {error:.3f})"
    if mean > critical(len(gaps)) * error and mean > 0:
        return f"{said}: larger than the noise between seeds (paired t-test, 5 %)."
    number = seeds_needed(gaps)
    more = f" About {number} seeds would be needed to tell a lead of this size." if number else ""
    return f"{said}: within the noise, so no winner (paired t-test, 5 %).{more}"


def seeds_needed(gaps: Sequence[float]) -> int | None:
    """So many pairs find a lead and a spread like these four times out of five (paired t-test, 5 %); None: too many."""
    mean, spread_of_gaps = fmean(gaps), stdev(gaps)
    for number in range(2, MOST_SEEDS + 1):
        if mean > 0 and mean * number**0.5 >= (critical(number) + FOUR_OF_FIVE) * spread_of_gaps:
            return number
    return None


def critical(pairs: int) -> float:
    """The two-sided 5 % point of Student's t for so many pairs (beyond the table: Cornish and Fisher's expansion)."""
    if pairs in CRITICAL:
        return CRITICAL[pairs]
    z, v = 1.959964, pairs - 1
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    return z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2) + third


CRITICAL = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Two-sided 5 % points of Student's t for so many pairs."""

FOUR_OF_FIVE = 0.8416
"""The point of the normal distribution below which four fifths of it lie."""

MOST_SEEDS = 1000
