"""An entry of the zoo: a paper as a choice of parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from playground.catalog import choose, find
from playground.corpora import Corpus
from playground.errors import UserError
from playground.models import Architecture, count_parameters
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
"""The corpora for what an objective needs and TinyWorld's "world" lacks."""

EVERYWHERE = "its size and a text from our grammar"
"""In what every entry differs from its paper."""

OWN_FORM = "positions, norms, biases, dropout, first weights and learning rates"
"""In what it differs too, unless it is trained in its published form."""

WORD_VECTORS = "Word vectors"
"""The group of objectives that train a table of word vectors and no network."""


@dataclass(frozen=True)
class Published:
    """A model as it was published: its architecture at full size, its vocabulary, and its parameters.

    `parameters` is the number that the authors give, at the place `where`.
    """

    name: str
    model: Architecture
    vocabulary: int
    parameters: float
    where: str

    def count(self) -> int:
        """The parameters of the architecture at full size, without those of a generator; no weight is made."""
        return count_parameters(self.model, self.vocabulary, generator=False)


@dataclass(frozen=True)
class Entry:
    """Name, year, source, idea, and the parts; `changed` is what is new over the parent.

    `unlike_paper` is what is not as published, by the knob or the missing part, beside what `EVERYWHERE` says; `data`
    are the texts that the authors trained on, `published` the sizes that they name, the one trained here first.
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
    data: str = ""
    published: tuple[Published, ...] = ()

    @property
    def order(self) -> tuple[int]:
        """Its place in lists: the oldest first."""
        return (self.year,)

    @property
    def not_the_paper(self) -> str:
        """How it differs from its paper, in one sentence."""
        form = f"{OWN_FORM}, unless the recipe called 'paper' is taken" if self.published else OWN_FORM
        return f"Not the paper in: {'; '.join((*self.unlike_paper.values(), EVERYWHERE, form))}."

    def bound(self, corpus: Corpus) -> float | None:
        """The corpus' own entropy in nats where it bounds the loss: only for models that read left to right."""
        return corpus.entropy_bound if self.model.attention == "left to right" else None


def entries() -> dict[str, Entry]:
    """Every entry of the zoo by name, the oldest first."""
    return find("playground.zoo", Entry)


def find_entry(name: str) -> Entry:
    """One entry by its name, whatever the case."""
    return choose("playground.zoo", Entry, name)


def entry_for(objective: Objective) -> Entry:
    """An objective on its own as an entry: a small network, which gets its missing parts when training begins."""
    stages = {type(stage) for stage in objective.stages}
    attention = "left to right" if SeeLeft in stages else "right to left" if SeeRight in stages else "bidirectional"
    kind = "static" if objective.group == WORD_VECTORS else "transformer"
    year = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", objective.source)
    return Entry(
        name=objective.name,
        year=0 if year is None else int(year[2] or 2000 + int(year[1])),
        paper=objective.source,
        idea=objective.idea,
        model=Architecture(kind=kind, attention=attention),
        objective=objective,
        corpus=next((CORPORA[need] for need in objective.needs if need in CORPORA), "world"),
        unlike_paper={"model": "the network, a small one of ours for the objective on its own"},
    )


def entry_named(name: str) -> Entry:
    """An entry of the zoo by its name, else the default entry of the objective of that name."""
    try:
        return find_entry(name)
    except UserError as unknown:
        try:
            return entry_for(find_objective(name))
        except UserError as part:
            if "+" in name:
                raise part from None
            raise UserError(f"{unknown} Any objective can be named too; `playground zoo` lists them.") from None
