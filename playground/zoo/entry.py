"""An entry of the zoo: a paper as a choice of parts."""

from dataclasses import dataclass, field

from playground.catalog import choose, find
from playground.corpora import Corpus
from playground.models import Architecture
from playground.objectives import Objective
from playground.zoo.recipe import Recipe


@dataclass(frozen=True)
class Entry:
    """Name, year, source, idea, and the parts; `changed` says what is new over the parent."""

    name: str
    year: int
    paper: str
    idea: str
    model: Architecture
    objective: Objective
    parent: str = ""
    changed: str = ""
    corpus: str = "world"
    recipe: Recipe = field(default_factory=Recipe)
    aliases: tuple[str, ...] = ()

    def bound(self, corpus: Corpus) -> float | None:
        """The corpus' own entropy in nats where it bounds this model: only where it reads left to right."""
        return corpus.entropy_bound if self.model.reads == "left to right" else None


def entries() -> dict[str, Entry]:
    """Every entry of the zoo by name, the oldest first."""
    return find("playground.zoo", Entry)


def find_entry(name: str) -> Entry:
    """One entry by its name, whatever the case."""
    return choose("playground.zoo", Entry, name)
