"""An entry of the zoo: a paper as a choice of parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from playground.catalog import choose, find, fold, nearest
from playground.corpora import Corpus
from playground.errors import UserError
from playground.knob import knobs, turn
from playground.models import Architecture, count_parameters
from playground.objectives import Objective, find_objective
from playground.objectives.by_hand import with_overrides
from playground.objectives.mask_overrides import MaskOverride, describe, describe_kinds
from playground.objectives.see import SeeLeft, SeeRight
from playground.zoo.electra_two_stage import two_stages
from playground.zoo.phase import Phase
from playground.zoo.recipe import Recipe

CORPORA = {
    "translation": "parallel",
    "answer": "text to text",
    "label:language": "bilingual",
    "label:inference": "inference",
    "label:connective": "clauses",
    "label:word_polarity": "reviews",
    "label:field": "news",
}
"""The corpora for what an objective needs and TinyWorld's "world" lacks."""

EVERYWHERE = "its size, its learning rate and its corpus, which a grammar generates"
"""In what every entry differs from its paper."""

OWN_FORM = "position encoding, norms, biases, dropout and initialisation"
"""In what an entry differs whose published architecture is not declared."""

OWN_OPTIMISER = "optimiser and weight decay (the recipe 'paper' has the published ones)"
"""In what every entry differs as it is declared."""

WORD_VECTORS = "Word vectors"
"""The group of objectives that train a table of word vectors and no network."""


ALONE = " objective"
"""What stands behind the name of an objective on its own where an entry of the zoo has that name."""

SIZE = re.compile(r"small|base|medium|x*large|xl|mega|original|\d+b|\d+layers")
"""What stands behind the name of an entry where one of its published sizes is meant."""


@dataclass(frozen=True)
class PublishedSize:
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
    `published_recipe` are knobs of the recipe that the paper says and BERT does otherwise, for the recipe 'paper'.
    `printed` are the cells of the surveys' tables that do not follow from the rest (see `surveys.py`). Of several
    `phases`, which are trained one after another, `objective` and `corpus` are those of the last one.
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
    phases: tuple[Phase, ...] = ()
    aliases: tuple[str, ...] = ()
    unlike_paper: Mapping[str, str] = field(default_factory=dict)
    data: str = ""
    published: tuple[PublishedSize, ...] = ()
    published_recipe: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int]:
        """Its place in lists: the oldest first."""
        return (self.year,)

    @property
    def continues(self) -> bool:
        """Whether the rows of each batch continue those of the step before, so that a memory of them is of use."""
        return self.model.mem_len > 0

    @property
    def not_the_paper(self) -> str:
        """How it differs from its paper, in one sentence."""
        form = () if self.published else (OWN_FORM,)
        return f"Not the paper in: {'; '.join((*self.unlike_paper.values(), EVERYWHERE, *form, OWN_OPTIMISER))}."

    @property
    def knobs(self) -> dict[str, list[str]]:
        """The names of its knobs: of the model, of the recipe and of the objective; no two of them share a name."""
        own = {part: [k.name for k in knobs(getattr(self, part))] for part in ("model", "recipe")}
        return own | {"objective": list(self.objective.knobs)}

    def turned(self, settings: Mapping[str, Any]) -> "Entry":
        """The entry with its knobs turned, those of model, recipe and objective alike."""
        known = self.knobs
        for name in settings:
            if not any(name in names for names in known.values()):
                listed = "; ".join(f"of the {part}: {', '.join(names) or 'none'}" for part, names in known.items())
                raise UserError(f"{self.name} has no knob {name!r}. It has, {listed}.")
        of = {part: {name: settings[name] for name in names if name in settings} for part, names in known.items()}
        shaped = replace(self, model=turn(self.model, of["model"]), recipe=turn(self.recipe, of["recipe"]))
        return shaped.asking(of["objective"])

    def asking(self, settings: Mapping[str, Any]) -> "Entry":
        """The entry with knobs of its objective turned, in every phase that has them; an unknown knob is refused."""
        return replace(
            self,
            objective=self.objective.turn(settings),
            phases=tuple(replace(phase, objective=_turned(phase.objective, settings)) for phase in self.phases),
        )

    def with_objective(self, objective: Objective) -> "Entry":
        """The entry with another objective in one phase; a transformer looks to the sides that this one lets it."""
        sides = {"attention": entry_for(objective).model.attention} if self.model.kind == "transformer" else {}
        return replace(self, objective=objective, phases=(), model=replace(self.model, **sides))

    def with_overrides(self, rules: tuple[MaskOverride, ...]) -> "Entry":
        """The entry with rules set by hand, which its objective obeys; a phase with another one is as it was."""
        if not rules:
            return self
        return replace(self, objective=with_overrides(self.objective, rules), idea=f"{self.idea} {describe(rules)}")

    @property
    def mask_overrides(self) -> tuple[MaskOverride, ...]:
        """The rules that were set by hand."""
        return self.objective.mask_overrides

    @property
    def title(self) -> str:
        """The name, and what of it was set by hand, as in "LM with a mask by hand"."""
        return f"{self.name} {describe_kinds(self.mask_overrides)}".strip()

    @property
    def all_phases(self) -> tuple[Phase, ...]:
        """What a run does one after another: the two stages of its recipe, the declared phases, or just one."""
        if share := self.recipe.generator_first:
            return two_stages(share)
        return self.phases or (Phase(),)

    @property
    def phase_starts(self) -> tuple[int, ...]:
        """The step (0-based) at which each phase begins; a phase of no step begins with the next one."""
        return (0, *(round(share * self.recipe.steps) for share in accumulate(p.share for p in self.all_phases[:-1])))

    def phase_at(self, step: int) -> int:
        """The number of the phase that a step (0-based) belongs to; the last one goes on beyond the recipe's steps."""
        return max(number for number, start in enumerate(self.phase_starts) if start <= step)

    def phases_begun(self, step: int) -> tuple[tuple[int, str], ...]:
        """Of several phases those that have begun after so many steps: after how many, and the name."""
        starts = self.phase_starts if len(self.all_phases) > 1 else ()
        return tuple(
            (start, phase.name) for start, phase in zip(starts, self.all_phases, strict=False) if start <= step
        )

    def objective_in(self, phase: Phase) -> Objective:
        """What is trained in a phase."""
        return phase.objective or self.objective

    @property
    def needs(self) -> tuple[str, ...]:
        """What a text must have for any phase (see `inputs.NEEDS`)."""
        asked = [self.objective, *(self.objective_in(phase) for phase in self.phases)]
        return tuple(dict.fromkeys(need for objective in asked for need in objective.needs))

    @property
    def watched(self) -> Objective:
        """The objective of the last phase, for a text that has what every phase needs."""
        return replace(self.objective, needs=self.needs)

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of what it asks in any phase, those of the last one first, as losses are reported."""
        asked = [self.objective, *(self.objective_in(phase) for phase in self.phases)]
        return tuple(dict.fromkeys(target for objective in asked for target in objective.target_names))

    def unit(self, target: str = "") -> str:
        """The unit of the loss of a target of any phase, by default of the first one of the last phase."""
        asked = (self.objective, *(self.objective_in(phase) for phase in self.phases))
        return next((one for one in asked if target in one.target_names), self.objective).unit(target)

    def bound(self, corpus: Corpus) -> float | None:
        """The corpus' own entropy in nats where it bounds the loss: of models that read all of it left to right."""
        as_it_is = "label:field" not in self.needs
        return corpus.entropy_bound if as_it_is and self.model.attention == "left to right" else None


def _turned(objective: Objective | None, settings: Mapping[str, Any]) -> Objective | None:
    """An objective with those knobs turned that it has."""
    return objective and objective.turn({name: value for name, value in settings.items() if name in objective.knobs})


def entries() -> dict[str, Entry]:
    """Every entry of the zoo by name, the oldest first."""
    return find("playground.zoo", Entry)


def find_entry(name: str) -> Entry:
    """One entry by its name, whatever the case."""
    return choose("playground.zoo", Entry, name)


def entry_for(objective: Objective) -> Entry:
    """An objective on its own as an entry: a small network, which gets its missing parts when training begins.

    Where an entry of the zoo has the objective's name (UniLM), " objective" stands behind it.
    """
    stages = {type(stage) for stage in objective.stages}
    attention = "left to right" if SeeLeft in stages else "right to left" if SeeRight in stages else "bidirectional"
    kind = "static" if objective.group == WORD_VECTORS else "transformer"
    year = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", objective.source)
    return Entry(
        name=objective.name + (ALONE if objective.name in entries() else ""),
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
            return entry_for(find_objective(name.removesuffix(ALONE)))
        except UserError as part:
            if "+" in name or nearest(name):
                raise part from None
            raise UserError(f"{unknown} Any objective can be named too; `playground zoo` lists them.") from None


def entry_to_train(name: str) -> Entry:
    """The entry of a name; a published size of it, such as "GPT-3 175B", is refused."""
    entry = entry_named(name)
    if entry.name in entries() and SIZE.fullmatch(fold(name).removeprefix(fold(entry.name))):
        raise UserError(
            f"{name.strip()!r} is a published size of {entry.name}, and models here are small; name "
            f"{entry.name!r}, which the knobs layers and width make larger."
        )
    return entry
