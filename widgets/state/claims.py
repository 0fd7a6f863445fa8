"""The state of the Claims page: the card that is open, what was run here, and the variant of the card."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import param

from playground.claims.claim import Claim, claims
from playground.claims.lab import models_folder
from playground.claims.report import ClaimFacts, claim_facts
from playground.claims.run import OutcomeRecord, Progress, run
from playground.claims.verdict import Verdict, shipped
from playground.corpora.readers.decode import Progress as Report
from playground.errors import UserError
from playground.knob import Knob, as_written
from playground.training.parallel.workers import spare
from playground.training.store import ready_made
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE
from widgets.state.search import begins

PROCESSES = 2
"""Claims run in so many processes, where the machine has them."""


@dataclass(frozen=True)
class Variant:
    """A card with other knobs, and what came of it so far."""

    claim: Claim
    settings: Mapping[str, Any]
    verdict: Verdict | None = None


MOST = {"steps": 1500, "tokens": 500_000, "train_size": 1024, "tuning_steps": 300, "seeds": 20}
"""The most that a slider shows."""


def _as_control(name: str, k: Knob, value: Any) -> Knob:
    arm, _, what = name.rpartition(".")
    most = k.high if k.name not in MOST else max(MOST[k.name], value)
    label = f"{what.replace('_', ' ')} of {arm}" if arm else what
    return replace(k, name=label.replace(".", " "), default=value, high=most)


class ClaimsStore(param.Parameterized):
    """`claim` is the name of the card that is open, `turned` the knobs of each card that are not as it says.

    A verdict that was computed here takes the place of the one that came with the program.
    """

    claim = param.String("", doc="The card that is open.")
    turned = param.Dict({}, doc="The knobs that were turned, by card.")
    search = param.String("", label="search", doc="Words of the cards that are listed.")
    calls = param.List([], doc="The verdicts of the cards that are listed; none for all.")
    trouble = param.String("", doc="Why nothing can be run or opened.")

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.running, self.quota = Job("run of claims"), ALONE
        self.here: dict[str, Verdict] = {}
        self.errors: dict[str, str] = {}
        self.variants: dict[str, Variant] = {}
        self.asked: tuple[str, ...] = ()
        self.done = ""
        self.open_run: Callable[[str, Claim | None], None] = lambda name, claim: None
        self._record: OutcomeRecord | None = None

    def enter(self) -> None:
        """Open the first card where none is open; the cards are loaded now, and not with every visit."""
        self.claim = self.claim or next(iter(claims()))

    @property
    def chosen(self) -> Claim:
        """The card that is open."""
        return claims()[self.claim]

    def knobs(self) -> dict[str, Knob]:
        """The knobs of the open card as controls: where the card has them, with limits that a slider can show."""
        claim = self.chosen
        return {name: _as_control(name, k, claim.value(name)) for name, k in claim.knobs.items()}

    def choose(self, name: str) -> None:
        """Open a card."""
        if name in claims():
            self.param.update(claim=name, trouble="")

    def toggle(self, call: str) -> None:
        """List the cards with a verdict too, or no longer."""
        self.calls = [each for each in self.calls if each != call] if call in self.calls else [*self.calls, call]

    def listed(self, facts: Sequence[ClaimFacts]) -> list[ClaimFacts]:
        """The cards that pass the search and have one of the `calls`."""
        some = [each for each in facts if not self.calls or each["verdict"] in self.calls]
        names = ("name", "title", "group", "statement", "source")
        return [each for each in some if begins(" ".join(str(each[name]) for name in names), self.search)]

    # the variant

    @property
    def settings(self) -> dict[str, Any]:
        """The knobs of the open card that are not as it says."""
        return self.turned.get(self.claim, {})

    @as_trouble
    def set(self, name: str, value: Any) -> None:
        """Turn a knob of the open card; back at its value it counts as not turned."""
        claim = self.chosen
        claim.turned({name: as_written(value)})  # refuses what is wrong
        rest = {each: v for each, v in self.settings.items() if each != name}
        own = rest if value == claim.value(name) else rest | {name: value}
        self.turned = self.turned | {self.claim: own}

    @property
    def variant(self) -> Variant | None:
        """The variant of the open card that was run last."""
        return self.variants.get(self.claim)

    # running

    @property
    def workers(self) -> int:
        return 1 if self.quota.shared else min(PROCESSES, spare(0))

    def estimate(self, names: Sequence[str]) -> float | None:
        """Seconds until these cards have run, from when they ran last; None where none of them has."""
        known = [verdict["seconds"] for name in names if (verdict := self.verdict(name)) is not None]
        return sum(known) * len(names) / len(known) / self.workers if known else None

    @as_trouble
    def begin(self, names: Sequence[str]) -> None:
        """Run cards as they stand."""
        self._begin([claims()[name] for name in names], {})

    @as_trouble
    def begin_variant(self) -> None:
        """Run the open card with its knobs as they are turned."""
        if not self.settings:
            raise UserError("No setting is changed yet; change one below, then run your variant.")
        settings = {name: as_written(value) for name, value in self.settings.items()}
        claim = self.chosen.turned(settings)
        self._begin([claim], {claim.name: Variant(claim, dict(self.settings))})

    def _begin(self, chosen: Sequence[Claim], variants: Mapping[str, Variant]) -> None:
        self.asked = tuple(claim.name for claim in chosen)
        self.variants |= variants
        record, total, workers = self.record(), sum(claim.seeds for claim in chosen), self.workers

        def work(report: Report) -> None:
            report(0, total)
            for number, progress in enumerate(run(chosen, workers, record), 1):
                self.done = f"{progress.claim.name}, {number} of {total} seeds"
                self._keep(progress, progress.claim.name in variants)
                report(number, total)  # which ends here where it was stopped

        for name in self.asked:
            self.errors.pop(name, None)
        self.running.begin(work)

    def _keep(self, progress: Progress, is_variant: bool) -> None:
        name = progress.claim.name
        if progress.error:
            self.errors[name] = progress.error
        elif progress.verdict is not None and is_variant:
            self.variants[name] = Variant(progress.claim, self.variants[name].settings, progress.verdict)
        elif progress.verdict is not None:
            self.here[name] = progress.verdict

    def record(self) -> OutcomeRecord:
        """What was run before: on this machine, or of a shared server on this visit."""
        if self._record is None:
            self._record = OutcomeRecord() if self.quota.shared else OutcomeRecord.of_user()
        return self._record

    # the results

    def verdict(self, name: str) -> Verdict | None:
        """The verdict of a card: the one that was computed here, else the one that came with the program."""
        if name not in self.here and (known := self.record().verdict(claims()[name])) is not None:
            self.here[name] = known
        return self.here.get(name) or shipped().get(name)

    def facts(self) -> list[ClaimFacts]:
        """All cards with their verdicts, as `playground claims --json` lists them."""
        return [claim_facts(claim, self.verdict(name)) for name, claim in claims().items()]

    def runs_there(self, verdict: Verdict | None) -> dict[str, bool]:
        """Which of the runs behind a verdict are still in the cache of this machine."""
        names = {name for some in verdict["runs"].values() for name in some if name} if verdict else set[str]()
        return {name: (models_folder() / name / ready_made.FILE).exists() for name in names}

    @as_trouble
    def open(self, name: str, inside: bool) -> None:
        """Open a run behind the verdict: its curves on the Train page, or what the card measures on the Inside page."""
        self.open_run(name, self.chosen if inside else None)
