"""The state of the Zoo page: which systems are shown, whose card is open, and what has been measured."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import param

from playground.catalog import nearest_by_meaning
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.objectives import GROUPS, objectives
from playground.training.properties import Properties, measure_properties
from playground.zoo import Entry, entries
from playground.zoo.models_of import models_of
from playground.zoo.surveys import TABLE_1, TABLE_2, family, network, representation
from widgets.state.job import Job, as_trouble
from widgets.state.search import begins

ANY = "any"

FAMILIES = ("encoder", "decoder", "encoder and decoder", "recurrent", "static")
"""What the filter of architectures offers; the last two are no transformers."""

VIEWS = {
    "Survey, Table 1": "survey", "Qiu et al., Table 2": "qiu", "Measured properties": "properties",
    "Timeline": "timeline",
}  # fmt: skip

Measure = Callable[[Entry, int], Properties]
"""Measures the properties of an entry with a seed."""


class ZooStore(param.Parameterized):
    """Filters over the zoo, the entry whose card is open ("" for none), and the properties measured so far.

    `measured` has the properties of an entry by its name, or the sentence that says why it could not be measured.
    """

    view = param.Selector(default="survey", objects=VIEWS, label="view")
    entry = param.String("", doc="The entry whose card is open.")
    search = param.String("", label="search")
    architecture = param.Selector(default=ANY, objects=[ANY, *FAMILIES], label="architecture")
    objective = param.Selector(default=ANY, objects=[ANY, *GROUPS], label="objective")
    representation = param.Selector(default=ANY, objects=[ANY, "static", "contextual"], label="representation")
    trouble = param.String("", doc="Why something cannot be done.")

    def __init__(self, measure: Measure = measure_properties, **values: Any) -> None:
        super().__init__(**values)
        self.measuring = Job("measurement")
        self.measured: dict[str, Properties | str] = {}
        self._measure_one = measure

    @property
    def ordered(self) -> tuple[list[str], list[str]]:
        """The names of the rows of the table that is shown, in its order, and the rest of the zoo, the oldest first."""
        table = TABLE_2 if self.view == "qiu" else TABLE_1
        return [*table], [name for name in entries() if name not in table]

    @property
    def shown(self) -> list[str]:
        """The names of the entries that pass all filters, in the order of the table."""
        first, rest = self.ordered
        return [name for name in (*first, *rest) if self._passes(entries()[name])]

    @property
    def nearest(self) -> list[str]:
        """The entries that are nearest by meaning to a searched name that is not here."""
        _, near = nearest_by_meaning(self.search) or ("", None)
        if near is None:
            return []
        return [near.name] if near.kind == "entry" else list(models_of().get(near.name, ()))

    def _passes(self, entry: Entry) -> bool:
        chosen = {
            self.architecture: family(entry), self.objective: entry.objective.group,
            self.representation: representation(entry),
        }  # fmt: skip
        return all(value in (ANY, has) for value, has in chosen.items()) and matches(entry, self.search)

    @as_trouble
    def measure(self) -> None:
        """Begin to measure the entries that are shown and were not measured yet, one after the other."""
        names = [name for name in self.shown if name not in self.measured]
        if not names:
            raise UserError("Every system that is shown has been measured; clear a filter to measure others.")

        def work(report: Progress) -> None:
            for done, name in enumerate(names):
                report(done, len(names))
                try:
                    self.measured[name] = self._measure_one(entries()[name], 0)
                except UserError as refusal:
                    self.measured[name] = str(refusal)

        self.measuring.begin(work)

    def query(self) -> dict[str, str]:
        """What a link says of the page: all but what is typed in the search, where it is not as on a fresh visit."""
        return {f"zoo.{k}": v for k in LINKED if (v := getattr(self, k)) != self.param[k].default}

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what it does not say, or says wrongly, is as on a fresh visit."""
        asked = {name: query.get(f"zoo.{name}", "") for name in LINKED}
        self.param.update(
            **{name: value if self._fits(name, value) else self.param[name].default for name, value in asked.items()}
        )

    def _fits(self, name: str, value: str) -> bool:
        known: Iterable[Any] = entries() if name == "entry" else self.param[name].objects
        return value in list(known)

    def choose(self, name: str) -> None:
        """Open the card of an entry, or close it with an empty name."""
        self.entry = name if name in entries() else ""


LINKED = ("view", "entry", "architecture", "objective", "representation")
"""What a link carries."""


def matches(entry: Entry, search: str) -> bool:
    """Whether every word of a search begins a word of what an entry is called, asks, reads or is about."""
    texts = (
        entry.name, *entry.aliases, str(entry.year), network(entry), *_trained_with(entry.name),
        *entry.printed.values(), entry.idea, entry.data, entry.paper,
    )  # fmt: skip
    return begins(" ".join(texts), search)


def _trained_with(name: str) -> list[str]:
    """Every name of the objectives that an entry trains with, in any phase or as a part of a sum, but no model's."""
    asked = [objective for objective in objectives().values() if name in models_of()[objective.name]]
    names = [each for objective in asked for each in (objective.name, objective.row, *objective.aliases)]
    return [each for each in names if each not in entries()]
