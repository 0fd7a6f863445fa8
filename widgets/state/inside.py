"""The state of the Inside page: what is looked into, the instrument that is open, its settings, and what was found."""

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import param

from playground.analysis.inspection import (
    MOST_SEEDS,
    OVER,
    Inspection,
    arranged,
    battery,
    inspect_each,
    way_of,
)
from playground.analysis.instrument import Instrument, instrument_named, instruments
from playground.analysis.subject import Subject
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.knob import check, knobs, turn
from playground.models.taps import part_names
from widgets.state.job import Job

SESSION = "session"
"""The key of the run on the Train page."""

FIRST = "attention"
"""The instrument of a fresh visit."""

LINKED = ("subject", "others", "over", "instrument")
"""What a link carries, besides the settings."""

SWITCH = "switch off"
"""The instrument whose parts are chips on the page."""

MOST_KEPT = 64
"""Inspections of a visit that are kept; the oldest go first."""

BETWEEN = "|"
"""Stands between the keys of several models in a link."""


class InsideStore(param.Parameterized):
    """`subject` and `others` are keys of what can be looked into; `turned` are the knobs of each instrument that moved.

    `open_one` opens what a key says; `first` is the key of what is opened where none was chosen. What was measured is
    kept with what was chosen then; refusals belong to what was chosen when it was asked for.
    """

    subject = param.String("", doc="The key of the model; empty: the first available one.")
    others = param.List([], item_type=str, doc="The keys of the models next to it.")
    over = param.Selector(objects=list(OVER), doc="How several findings are compared.")
    instrument = param.String(FIRST)
    turned = param.Dict({}, doc="The settings that differ from the defaults, by instrument.")
    panel = param.String("", doc="The map that is enlarged, as row,column.")
    misread = param.String("", doc="What a link says wrongly, in sentences; until something is chosen or measured.")

    def __init__(self, open_one: Callable[[str, bool], Subject], first: Callable[[], str], **values: Any) -> None:
        super().__init__(**values)
        self.open_one, self.first = open_one, first
        self.looking, self.opening = Job("measurement"), Job("loading of the model")
        self.asked: tuple[object, ...] = ()
        self.measured: dict[tuple[object, ...], Inspection] = {}
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
        """The keys of the models that are measured."""
        return (self.key, *(key for key in self.others if key != self.key and self.over != "steps"))

    def of(self, key: str, to_read: bool = True) -> Subject:
        """The subject of a key, opened once until the page is entered again; the run on the Train page every time."""
        if key not in self._subjects or key == SESSION:
            self._subjects[key] = self.open_one(key, to_read)
        return self._subjects[key]

    def enter(self) -> None:
        """Open the chosen model in the background, so that the page knows what can be asked of it.

        Nothing that was opened before is used again: a run may have gone on since, and then what was measured is old.
        """
        self._first, self._subjects = "", {}
        key = self.key

        def work(_: Progress) -> None:
            step = self.of(key, to_read=False).step
            old = [chosen for chosen, each in self.measured.items() if key == chosen[0] and _last(each) != step]
            for chosen in old:
                del self.measured[chosen]

        self.opening.begin(work)

    def missing(self) -> dict[str, str]:
        """Why each instrument cannot run on what is opened, in a sentence; only those that cannot."""
        subject = self._subjects.get(self.key)
        if subject is None:
            return {}
        lacks = {name: each.missing(subject) for name, each in instruments().items()}
        return {name: sentence for name, sentence in lacks.items() if sentence}

    def parts(self) -> tuple[str, ...]:
        """The heads and the layers' parts of what is opened, for the chips."""
        subject = self._subjects.get(self.key)
        return part_names(subject.model) if subject is not None and self.instrument == SWITCH else ()

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
        self._measure([self.chosen])

    def look_with_all(self) -> None:
        """Begin to measure with the instruments of the battery; those that lack something are left out."""
        self._measure(battery())

    def _measure(self, asked: list[Instrument]) -> None:
        keys, over = self.keys, self.over
        turned = {each.name: turn(each.settings, self.turned.get(each.name, {})) for each in asked}
        self.asked, self.misread = self._chosen(self.chosen), ""

        def work(report: Progress) -> None:
            subjects = arranged([self.of(key) for key in keys], over)
            for _, made in inspect_each(asked, subjects, turned, over, report):
                if isinstance(made, Inspection):
                    self.measured[(*keys, over, made.instrument.name, made.settings)] = made
            for old in list(self.measured)[:-MOST_KEPT]:
                del self.measured[old]

        self.looking.begin(work)

    def _chosen(self, instrument: Instrument) -> tuple[object, ...]:
        settings = turn(instrument.settings, self.turned.get(instrument.name, {}))
        return *self.keys, self.over, instrument.name, settings

    def found(self, instrument: Instrument | None = None) -> Inspection | None:
        """What the instrument, by default the open one, found in what is chosen; nothing where it was not asked."""
        return self.measured.get(self._chosen(instrument or self.chosen))

    @property
    def head(self) -> tuple[int, ...]:
        """Layer and head, from 1, whose weights are enlarged, of a single model; empty where none are."""
        alone = len(self.keys) == 1 and self.over == "models" and self.found()
        return tuple(map(int, self.panel.split(","))) if self.panel and alone else ()

    @property
    def refusal(self) -> str:
        """Why what is chosen could not be opened or measured; empty while that is tried."""
        if self.opening.busy or self.looking.busy or self.found():
            return ""
        asked = self.looking.error if self.asked == self._chosen(self.chosen) else None
        return str(asked or self.opening.error or "")

    def csv(self) -> bytes:
        """Every table of what was measured in what is chosen, as CSV files in an archive."""
        made = [each for instrument in instruments().values() if (each := self.found(instrument))]
        if not made:
            raise UserError("Nothing has been measured yet; press Measure first.")
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in made:
                for name, text in each.files():
                    archive.writestr(f"{each.instrument.name}/{name}", text)
        return file.getvalue()

    # the address

    def query(self) -> dict[str, str]:
        """What a link says of the page, where it is not as on a fresh visit."""
        said = {f"inside.{k}": _written(v) for k in LINKED if (v := getattr(self, k)) != self.param[k].default}
        turned = self.turned.get(self.instrument, {})
        return said | {f"inside.set.{name}": str(value) for name, value in turned.items()}

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what it does not say, or says wrongly (`misread`), is as on a fresh visit."""
        asked = {name: query.get(f"inside.{name}", _written(self.param[name].default)) for name in LINKED}
        kept, wrong = {}, []
        for name, read in (("instrument", lambda said: instrument_named(said).name), ("over", way_of)):
            try:
                asked[name] = read(asked[name])
            except UserError as refusal:
                asked[name] = self.param[name].default
                wrong.append(str(refusal))
        for k in knobs(instruments()[asked["instrument"]].settings):
            try:
                kept |= {k.name: check(k, query[said])} if (said := f"inside.set.{k.name}") in query else {}
            except UserError as refusal:
                wrong.append(str(refusal))
        others = [key for key in asked.pop("others").split(BETWEEN) if key][: MOST_SEEDS - 1]
        turned = {asked["instrument"]: kept} if kept else {}
        self.param.update(**asked, others=others, turned=turned, misread=" ".join(wrong))


def _written(value: str | list[str]) -> str:
    return value if isinstance(value, str) else BETWEEN.join(value)


def _last(inspection: Inspection) -> int:
    """The training step of the first model, over steps the last one."""
    return list(inspection.trained.values())[-1 if inspection.over == "steps" else 0]
