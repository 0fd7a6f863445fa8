"""Run claims over their seeds, in worker processes where there are several; what is finished is kept."""

import hashlib
import time
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from playground.claims.claim import Claim
from playground.claims.lab import Lab
from playground.claims.verdict import Verdict, decide
from playground.errors import UserError
from playground.finetuning.run.record import Record
from playground.folders import cache_folder
from playground.parsing import has_form
from playground.training.parallel.workers import Processes, as_worker
from playground.training.store.ready_made import code_hash

Job = tuple[Claim, int]
"""A claim and a seed."""


@dataclass(frozen=True)
class Outcome:
    """What one seed of a claim gave: the figure of each arm and the run behind it.

    `models` are the seconds of training by the name of the run, `seconds` those of everything else. `error` says in a
    sentence why there are no figures.
    """

    claim: str
    seed: int
    values: dict[str, float]
    runs: dict[str, str]
    models: dict[str, float]
    seconds: float
    error: str = ""


FORM = {
    "claim": str, "seed": int, "values": {str: float}, "runs": {str: str}, "models": {str: float}, "seconds": float,
    "error": str,
}  # fmt: skip


@dataclass(frozen=True)
class Progress:
    """A claim after one of its seeds: the outcomes so far, and once all seeds are there its verdict or an error."""

    claim: Claim
    outcomes: tuple[Outcome, ...]
    verdict: Verdict | None = None
    error: str = ""

    @property
    def finished(self) -> bool:
        return self.verdict is not None or bool(self.error)


class OutcomeRecord(Record):
    """The outcomes of finished seeds."""

    file = "outcomes.jsonl"

    @classmethod
    def of_user(cls) -> "OutcomeRecord":
        """The record in the user's cache."""
        return cls.open(cache_folder("claims"), resume=True)

    @classmethod
    def is_whole(cls, line: Any) -> bool:
        return has_form(line, {"key": str, "value": FORM})

    def outcome(self, claim: Claim, seed: int) -> Outcome | None:
        """What a seed of a claim gave, None where it was not run with this rule and this code."""
        known = self.known.get(key(claim, seed))
        return None if known is None else Outcome(**known)

    def verdict(self, claim: Claim) -> Verdict | None:
        """The verdict of a claim all of whose seeds were run."""
        outcomes = [self.outcome(claim, seed) for seed in range(claim.seeds)]
        found = [outcome for outcome in outcomes if outcome is not None]
        return verdict_of(claim, found) if len(found) == claim.seeds else None


def key(claim: Claim, seed: int) -> str:
    """Everything on which the figures of a seed depend, hashed."""
    return hashlib.sha256(f"{claim.figures_hash} {seed} {code_hash()}".encode()).hexdigest()[:24]


def measure(_: None, job: Job) -> Outcome:
    """The figure of every arm with one seed."""
    claim, seed = job
    lab, began, values, runs, error = Lab(), time.perf_counter(), dict[str, float](), dict[str, str](), ""
    try:
        with as_worker():
            for name, arm in claim.sides.items():
                values[name] = lab.figure(claim, arm, seed)
                runs[name] = lab.name_of_run(arm, seed)
    except UserError as refusal:
        error = f"{claim.name}, seed {seed}: {refusal}"
    seconds = time.perf_counter() - began - lab.waited
    return Outcome(claim.name, seed, values, runs, lab.models, round(seconds, 3), error)


def run(chosen: Sequence[Claim], workers: int = 1, record: OutcomeRecord | None = None) -> Generator[Progress]:
    """Run every seed of the claims; what is known of a claim is yielded after each of its seeds, last its verdict.

    Seeds that the record knows are not run.
    """
    record = record or OutcomeRecord()
    jobs = [(claim, seed) for claim in chosen for seed in range(claim.seeds)]
    kept = {number: record.outcome(*job) for number, job in enumerate(jobs)}
    waiting = [job for number, job in enumerate(jobs) if kept[number] is None]

    def keep(job: Job, outcome: Outcome) -> None:
        if not outcome.error:
            record.put(key(*job), asdict(outcome))

    made = Processes(workers).run(waiting, measure, None, keep)
    found: dict[int, list[Outcome]] = {}
    for number, (claim, _) in enumerate(jobs):
        outcome = kept[number] or next(made)
        some = found.setdefault(id(claim), [])
        some.append(outcome)
        whole = len(some) == claim.seeds
        error = next((each.error for each in some if each.error), "") if whole else ""
        yield Progress(claim, tuple(some), verdict_of(claim, some) if whole and not error else None, error)


def verdict_of(claim: Claim, outcomes: Sequence[Outcome]) -> Verdict:
    """The verdict on the outcomes of all seeds; a model that several seeds share counts once in the seconds."""
    values = {name: [outcome.values[name] for outcome in outcomes] for name in claim.arms}
    runs = {name: [outcome.runs[name] for outcome in outcomes] for name in claim.arms}
    models = {name: seconds for outcome in outcomes for name, seconds in outcome.models.items()}
    seconds = sum(models.values()) + sum(outcome.seconds for outcome in outcomes)
    return decide(claim, values, [outcome.seed for outcome in outcomes], seconds, runs)
