"""An entry of the zoo: a paper as a choice of parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from playground.catalog import choose, find
from playground.corpora import Corpus
from playground.errors import Refusal
from playground.models import Architecture
from playground.objectives import Objective, find_objective
from playground.objectives.see import SeeLeft, SeeRight
from playground.zoo.recipe import Recipe

CORPORA = {
    "translation": "parallel",
    "answer": "text to text",
    "label:language": "bilingual",
    "label:inference": "inference",
    "label:connective": "clauses",
}
"""Where an objective finds what it needs and the world of TinyWorld does not know."""


EVERYWHERE = (
    "its size, norms before the layers, no dropout, a text from our grammar, and the recipe, unless the one called "
    "'paper' is taken"
)
"""In what no entry is its paper."""

WORD_VECTORS = "Word vectors"
"""The group of objectives that train a table of vectors, one for each word, and no network."""


@dataclass(frozen=True)
class Entry:
    """Name, year, source, idea, and the parts; `changed` says what is new over the parent.

    `unlike_paper` says what is not as published, by the knob that is set otherwise or by the part that is missing; what
    all entries have in common (tiny, a generated text, the recipe) is `EVERYWHERE`.
    """

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
    unlike_paper: Mapping[str, str] = field(default_factory=dict)

    @property
    def not_the_paper(self) -> str:
        """What of it is not the paper, in one sentence."""
        return f"Not the paper in: {'; '.join((*self.unlike_paper.values(), EVERYWHERE))}."

    def bound(self, corpus: Corpus) -> float | None:
        """The corpus' own entropy in nats where it bounds this model: only where it reads left to right."""
        return corpus.entropy_bound if self.model.attention == "left to right" else None


def entries() -> dict[str, Entry]:
    """Every entry of the zoo by name, the oldest first."""
    return find("playground.zoo", Entry)


def find_entry(name: str) -> Entry:
    """One entry by its name, whatever the case."""
    return choose("playground.zoo", Entry, name)


def entry_for(objective: Objective) -> Entry:
    """An objective on its own as an entry: a small network, which gets its missing parts when training begins."""
    return Entry(
        name=objective.name,
        year=_year(objective.source),
        paper=objective.source,
        idea=objective.idea,
        model=Architecture(
            kind="static" if objective.group == WORD_VECTORS else "transformer", attention=_reads(objective)
        ),
        objective=objective,
        corpus=next((CORPORA[need] for need in objective.needs if need in CORPORA), "world"),
        unlike_paper={"model": "the network, a small one of ours for the objective on its own"},
    )


def _reads(objective: Objective) -> str:
    """The direction that the main network is trained in."""
    kinds = {type(stage) for stage in objective.stages}
    return "left to right" if SeeLeft in kinds else "right to left" if SeeRight in kinds else "bidirectional"


def entry_named(name: str) -> Entry:
    """An entry of the zoo by its name, else the default entry of the objective of that name."""
    try:
        return find_entry(name)
    except Refusal as unknown:
        try:
            return entry_for(find_objective(name))
        except Refusal as part:
            if "+" in name:
                raise part from None
            raise Refusal(f"{unknown} Any objective can be named too; `playground zoo` lists them.") from None


def _year(source: str) -> int:
    """The year of a source, from its arXiv number or as it is written."""
    found = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", source)
    return 0 if found is None else int(found[2] or 2000 + int(found[1]))
