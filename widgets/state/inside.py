"""The state of the Inside page: one or two models, the instrument that is open, its settings, and what it found."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import param

from playground.analysis.finding import Finding, Table, difference
from playground.analysis.instrument import Instrument, instrument_named, instruments
from playground.analysis.subject import Subject
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.knob import check, knobs, turn
from playground.models.taps import head_names
from widgets.state.job import Job

NOBODY = "nothing"
"""What stands beside a model where it is looked at alone."""

SESSION = "session"
"""The key of the run on the Train page."""

FIRST = "attention"
"""The instrument of a fresh visit."""

LINKED = ("subject", "other", "instrument")
"""What a link carries, besides the settings."""

SWITCH = "switch off"
"""The instrument whose parts are chips on the page."""


class InsideStore(param.Parameterized):
    """`subject` and `other` are keys of what can be looked into; `turned` are the knobs of each instrument that moved.

    `open_one` opens what a key says; `first` is the key of what is opened where none was chosen. Results and refusals
    belong to what was chosen when they were asked for.
    """

    subject = param.String("", doc="The key of the model; empty: the first available one.")
    other = param.String(NOBODY, doc="The key of the model next to it.")
    instrument = param.String(FIRST)
    turned = param.Dict({}, doc="The settings that differ from the defaults, by instrument.")
    panel = param.String("", doc="The map that is enlarged, as row,column.")
    misread = param.String("", doc="What a link says wrongly, in sentences; until something is chosen.")

    def __init__(self, open_one: Callable[[str, bool], Subject], first: Callable[[], str], **values: Any) -> None:
        super().__init__(**values)
        self.open_one, self.first = open_one, first
        self.looking, self.opening = Job("measurement"), Job("loading of the model")
        self.asked: tuple[object, ...] = ()
        self._subjects: dict[str, Subject] = {}
        self._first = ""

    @property
    def chosen(self) -> Instrument:
        return instruments()[self.instrument]

    @property
    def settings(self) -> Any:
        """The settings of the instrument that is open."""
        return turn(self.chosen.settings, self.turned.get(self.instrument, {}))

    def set(self, name: str, value: Any) -> None:
        """Turn a knob of the instrument that is open."""
        known = self.turned.get(self.instrument, {})
        self.param.update(turned=self.turned | {self.instrument: known | {name: value}}, misread="")

    def choose(self, name: str) -> None:
        """Open an instrument."""
        if name in instruments():
            self.param.update(instrument=name, panel="", misread="")

    # what is looked into

    @property
    def key(self) -> str:
        """The key of the model that is looked into; which is there first is found out when the page is entered."""
        if not (self.subject or self._first):
            self._first = self.first()
        return self.subject or self._first

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the one or two models."""
        return (self.key, *([self.other] if self.other != NOBODY else []))

    def of(self, key: str, to_read: bool = True) -> Subject:
        """The subject of a key, opened once until the page is entered again; the run on the Train page every time."""
        if key not in self._subjects or key == SESSION:
            self._subjects[key] = self.open_one(key, to_read)
        return self._subjects[key]

    def enter(self) -> None:
        """Open the chosen model in the background, so that the page knows what can be asked of it.

        Nothing that was opened before is used again: a run may have gone on since.
        """
        self._first, self._subjects = "", {}
        key = self.key
        self.opening.begin(lambda _: self.of(key, to_read=False))

    def missing(self) -> dict[str, str]:
        """Why each instrument cannot run on what is opened, in a sentence; only those that cannot."""
        subject = self._subjects.get(self.key)
        if subject is None:
            return {}
        lacks = {name: each.missing(subject) for name, each in instruments().items()}
        return {name: sentence for name, sentence in lacks.items() if sentence}

    def heads(self) -> tuple[str, ...]:
        """The heads of what is opened, for the chips."""
        subject = self._subjects.get(self.key)
        return head_names(subject.model) if subject is not None and self.instrument == SWITCH else ()

    @property
    def off(self) -> tuple[str, ...]:
        """The parts that are switched off."""
        return tuple(dict.fromkeys(self.settings.parts.split())) if self.instrument == SWITCH else ()

    def switch(self, part: str) -> None:
        """Switch a part off, or on again, and look at once."""
        off = [name for name in self.off if name != part]
        self.set("parts", " ".join(off if part in self.off else [*off, part]))
        self.look()

    # looking

    def look(self) -> None:
        """Begin to measure what is chosen, in the background."""
        instrument, settings, keys = self.chosen, self.settings, self.keys
        self.asked = self._chosen_now

        def work(report: Progress) -> dict[str, Finding]:
            subjects = [self.of(key) for key in keys]
            parts = [replace(each, report=_part(report, k, len(keys))) for k, each in enumerate(subjects)]
            return {name: instrument.look(each, settings) for name, each in by_name(parts).items()}

        self.looking.begin(work)

    @property
    def _chosen_now(self) -> tuple[object, ...]:
        return *self.keys, self.instrument, self.settings

    @property
    def _answered(self) -> bool:
        """Whether what is chosen now was asked for, and the answer is there."""
        return not self.looking.busy and self.asked == self._chosen_now

    @property
    def found(self) -> dict[str, Finding]:
        """What was found, by the name of each model; nothing while it is looked for or where something else is open."""
        return (self.looking.result or {}) if self._answered else {}

    @property
    def refusal(self) -> str:
        """Why what is chosen could not be opened or measured; empty while that is tried."""
        asked = self.looking.error if self._answered else None
        opened = None if self.opening.busy or self.looking.busy or self.found else self.opening.error
        return str(asked or opened or "")

    def csv(self) -> bytes:
        """Every table of every model as CSV files in an archive."""
        if not self.found:
            raise UserError("Nothing has been measured yet; press Measure first.")
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, finding in self.found.items():
                for table in finding.tables:
                    archive.writestr(f"{_file(name)}/{_file(table.title)}.csv", table.to_csv())
        return file.getvalue()

    # the address

    def query(self) -> dict[str, str]:
        """What a link says of the page, where it is not as on a fresh visit."""
        said = {f"inside.{k}": v for k in LINKED if (v := getattr(self, k)) != self.param[k].default}
        turned = self.turned.get(self.instrument, {})
        return said | {f"inside.set.{name}": str(value) for name, value in turned.items()}

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what it does not say, or says wrongly (`misread`), is as on a fresh visit."""
        asked = {name: query.get(f"inside.{name}", self.param[name].default) for name in LINKED}
        kept, wrong = {}, []
        try:
            instrument_named(asked["instrument"])
        except UserError as refusal:
            asked["instrument"] = FIRST
            wrong.append(str(refusal))
        for k in knobs(instruments()[asked["instrument"]].settings):
            try:
                kept |= {k.name: check(k, query[said])} if (said := f"inside.set.{k.name}") in query else {}
            except UserError as refusal:
                wrong.append(str(refusal))
        self.param.update(**asked, turned={asked["instrument"]: kept} if kept else {}, misread=" ".join(wrong))


def by_name(subjects: Sequence[Subject]) -> dict[str, Subject]:
    """Subjects by their names, with a number behind a name that several have."""
    names = [each.name for each in subjects]
    shown = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return dict(zip(shown, subjects, strict=True))


def differences(found: Mapping[str, Finding]) -> list[Table]:
    """What each further model has more than the first, of every table that has the same rows."""
    first, *others = found.values()
    pairs = ((a, b) for other in others for a in first.tables for b in other.tables if a.title == b.title)
    return [table for a, b in pairs if (table := difference(a, b)) is not None]


def _part(report: Progress, number: int, of: int) -> Progress:
    """How much is done of all where one of several is at work."""
    return lambda done, total: report(number * total + done, of * total)


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in " .,-_" else "_" for c in name).strip()
