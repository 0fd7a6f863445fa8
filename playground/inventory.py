"""What there is: entries, objectives, strategies, corpora and tasks as plain data."""

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import NotRequired, TypedDict

import torch

from playground.catalog import choose, nearest, three_nearest
from playground.corpora import open_corpus
from playground.corpora.sources import Source, find_source, sources
from playground.errors import UserError
from playground.finetuning import find_strategy, strategies, tasks
from playground.finetuning.data.task import Task
from playground.finetuning.strategy.find import knobs_of
from playground.finetuning.strategy.strategy import Strategy
from playground.knob import knobs
from playground.models import Architecture, LanguageModel, with_required_parts
from playground.objectives import Objective, objectives
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.training.data import BatchSampler
from playground.zoo import Entry, Recipe, entries, entry_named

VOCABULARY = 800
"""Words of the vocabulary for which the parameters of an entry are counted."""

TEXT = 20_000
"""Tokens of a corpus that are enough to see what an objective asks."""


class ItemFacts(TypedDict):
    """One item of the catalogue."""

    name: str
    idea: str
    """What it is, in a sentence or two."""


class PublishedFacts(TypedDict):
    """A size of the system as it was published."""

    name: str
    parameters: float
    where: str
    """Where the authors give the number of parameters."""


class PhaseFacts(TypedDict):
    """One of the phases of training that follow each other."""

    name: str
    idea: str
    share: float
    """Share of the steps."""
    objective: str
    corpus: str


class EntryFacts(ItemFacts):
    """A system of the zoo, or an objective as the model that trains it."""

    parameters: int
    """Parameters of the model here."""
    vocabulary: int
    """Words of the vocabulary for which the parameters are counted."""
    objective: str
    year: int
    """Year of the paper; 0 where it is not known."""
    source: str
    """The paper."""
    parent: str
    """The system that it builds on; empty where there is none."""
    changed: str
    """What is new over the parent."""
    differences: str
    """Differences from the paper."""
    loss: str
    """The loss in words."""
    formula: str
    """The loss in LaTeX."""
    data: str
    """The texts that the authors trained on."""
    published: list[PublishedFacts]
    corpus: str
    """The corpus here."""
    phases: list[PhaseFacts]
    model: Architecture
    """Every knob of the model."""
    recipe: Recipe
    """Every knob of the recipe."""


class ObjectiveItem(ItemFacts):
    """A pre-training objective."""

    group: str
    """Its kind."""
    row: str
    """Its row in the survey's Table 2; empty where it has none."""
    source: str
    """The paper."""
    plan: list[str]
    """The keys of its plan."""
    knobs: list[str]


class StrategyItem(ItemFacts):
    """A fine-tuning strategy."""

    group: str
    """Its kind."""
    source: str
    """The paper."""
    knobs: list[str]


class CorpusItem(ItemFacts):
    """A generated corpus."""

    knobs: list[str]
    """Its settings, which follow its name in brackets."""


class TaskItem(ItemFacts):
    """A task."""

    source: str
    """The paper or data set that it follows."""


class Inventory(TypedDict):
    """What there is; with a name, only the kinds that have an item of this name."""

    entries: NotRequired[list[EntryFacts]]
    objectives: NotRequired[list[ObjectiveItem]]
    """Only without a name; with one, the objective is among `entries`."""
    strategies: NotRequired[list[StrategyItem]]
    corpora: NotRequired[list[CorpusItem]]
    tasks: NotRequired[list[TaskItem]]


def inventory(name: str | None = None) -> Inventory:
    """All items by kind, or only those of one name or alias: an entry, an objective, a strategy ..."""
    if name is not None:
        return _named(name)
    return {
        "entries": [entry_facts(entry) for entry in entries().values()],
        "objectives": [_objective(objective) for objective in objectives().values()],
        "strategies": [_strategy(strategy) for strategy in strategies().values()],
        "corpora": [_corpus(source) for source in sources().values()],
        "tasks": [_task(task) for task in tasks().values()],
    }


def _named(name: str) -> Inventory:
    """What has a name, by kind; an objective is shown as the entry that trains it."""
    found: Inventory = {}
    with suppress(UserError):
        found["entries"] = [entry_facts(_fitted(entry_named(name)))]
    with suppress(UserError):
        found["strategies"] = [_strategy(find_strategy(name))]
    with suppress(UserError):
        found["corpora"] = [_corpus(find_source(name))]
    with suppress(UserError):
        found["tasks"] = [_task(choose("playground.finetuning.tasks", Task, name))]
    if found:
        return found
    if meant := nearest(name):
        raise UserError(meant)
    everything = (entries(), objectives(), strategies(), sources(), tasks())
    near = ", ".join(three_nearest(name, (item for items in everything for item in items.values())))
    raise UserError(f"There is nothing named {name!r}; the nearest: {near}.")


def _objective(o: Objective) -> ObjectiveItem:
    return {
        "name": o.name, "group": o.group, "row": o.row, "idea": o.idea, "source": o.source,
        "plan": list(o.plan_keys), "knobs": list(o.knobs),
    }  # fmt: skip


def _strategy(s: Strategy) -> StrategyItem:
    return {"name": s.name, "group": s.family, "idea": s.idea, "source": s.source, "knobs": list(knobs_of(s))}


def _corpus(s: Source) -> CorpusItem:
    settings = [] if s.settings is None else knobs(s.settings)
    return {"name": s.name, "idea": s.idea, "knobs": [k.name for k in settings]}


def _task(t: Task) -> TaskItem:
    return {"name": t.name, "idea": t.idea, "source": t.source}


def _fitted(entry: Entry) -> Entry:
    """The entry with every part that its objective's targets need, as when training begins."""
    recipe, needs = entry.recipe, entry.objective.needs
    corpus = open_corpus(entry.corpus, tokens=TEXT)
    rows = BatchSampler.of(corpus, recipe.seq_len, recipe.batch_size, 0, torch.device("cpu"), needs).evaluation()
    examples = specimens(entry.objective, rows, generator(0, "asked"))
    return replace(entry, model=with_required_parts(entry.model, *examples))


def entry_facts(entry: Entry) -> EntryFacts:
    """One entry as data, with the number of its parameters at a vocabulary of 800 words."""
    return {
        "name": entry.name,
        "parameters": _parameters(entry.model),
        "vocabulary": VOCABULARY,
        "objective": entry.objective.name,
        "year": entry.year,
        "source": entry.paper,
        "idea": entry.idea,
        "parent": entry.parent,
        "changed": entry.changed,
        "differences": entry.not_the_paper,
        "loss": entry.objective.loss,
        "formula": entry.objective.formula,
        "data": entry.data,
        "published": [
            {"name": size.name, "parameters": size.parameters, "where": size.where} for size in entry.published
        ],
        "corpus": entry.corpus,
        "phases": [
            {
                "name": phase.name,
                "idea": phase.idea,
                "share": phase.share,
                "objective": entry.objective_in(phase).name,
                "corpus": phase.corpus or entry.corpus,
            }
            for phase in entry.phases
        ],
        "model": entry.model,
        "recipe": entry.recipe,
    }


@cache
def _parameters(shape: Architecture) -> int:
    """The parameters of a model at a vocabulary of 800 words; many entries have one shape."""
    model = LanguageModel(shape, VOCABULARY, None, ["word"] * VOCABULARY)
    return sum(p.numel() for p in model.parameters())
