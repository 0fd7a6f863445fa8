"""Strategies side by side: every strategy on the same seeds, label subsets and steps."""

import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from playground.finetuning.strategy import Strategy
from playground.finetuning.task import Task
from playground.finetuning.tune import Base, Outcome, Setting, Tuned, replace_model, tune
from playground.refusal import Refusal
from playground.tokenizing import Tokenizer

TEST_TEXTS = 500


@dataclass(frozen=True)
class Lane:
    """One strategy with one seed; `event` is its latest step or its outcome."""

    strategy: Strategy
    seed: int
    event: Tuned | Outcome


@dataclass(frozen=True)
class Comparison:
    """All outcomes by strategy, in the order in which they were asked for."""

    task: Task
    labels: int
    outcomes: dict[str, tuple[Outcome, ...]]
    seconds: float

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground compare`."""
        return {
            "task": self.task.name,
            "labels": self.labels,
            "seeds": max((len(o) for o in self.outcomes.values()), default=0),
            "seconds": self.seconds,
            "strategies": [_facts(name, outcomes) for name, outcomes in self.outcomes.items()],
            "verdict": verdict(self.outcomes),
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
) -> Iterator[Lane | Comparison]:
    """Run every lane and yield its events; the last value is the `Comparison`.

    All lanes start from the base as it is now, also where its own training goes on meanwhile.
    """
    if not chosen:
        raise Refusal("No strategy is named; name at least one.")
    if labels < 2 or seeds < 1:
        raise Refusal(f"labels is {labels} and seeds is {seeds}; at least 2 labels and 1 seed are needed.")
    began, setting = time.perf_counter(), setting or Setting()
    base = Base(replace_model(base.learner, deepcopy(base.learner.model)), base.held_out)
    chosen = list(dict.fromkeys(chosen))
    test = task.load(tokenizer, TEST_TEXTS, 0, "test")
    outcomes: dict[str, list[Outcome]] = {s.name: [] for s in chosen}
    for number in range(seed, seed + seeds):
        train = task.load(tokenizer, labels, number, "train")
        for strategy in chosen:
            for event in tune(base, strategy, train, test, setting, number):
                if isinstance(event, Outcome):
                    outcomes[strategy.name].append(event)
                yield Lane(strategy, number, event)
    done = {name: tuple(values) for name, values in outcomes.items()}
    yield Comparison(task, labels, done, time.perf_counter() - began)


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, sample standard deviation (0 for a single value) and the values themselves."""
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0, "values": list(values)}


def _facts(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "name": name,
        "accuracy": spread([o.accuracy for o in outcomes]),
        "forgetting": spread([o.forgetting for o in outcomes]),
        "trainable": first.trainable,
        "stored": first.stored,
        "seconds": sum(o.seconds for o in outcomes),
        "groups": list(first.groups),
        "plan": first.plan.tolist(),
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
    if mean > CRITICAL.get(len(gaps), 2.262) * error and mean > 0:
        return f"{said}: larger than the noise between seeds (paired t-test, 5 %)."
    return f"{said}: within the noise, so no winner (paired t-test, 5 %)."


CRITICAL = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Two-sided 5 % points of Student's t for so many pairs."""
