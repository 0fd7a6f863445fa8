"""What there is: entries, objectives, strategies, corpora and tasks as plain data."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from typing import Any

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
from playground.rng import generator
from playground.training.data import BatchSampler
from playground.zoo import Entry, entries, entry_named

VOCABULARY = 800
"""Words of the vocabulary for which the parameters of an entry are counted."""

TEXT = 20_000
"""Tokens of a corpus that are enough to see what an objective asks."""

Facts = dict[str, Any]
"""One item of the catalogue, ready for JSON."""


def inventory(name: str | None = None) -> dict[str, list[Facts]]:
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


def _named(name: str) -> dict[str, list[Facts]]:
    """What has a name, by kind; an objective is shown as the entry that trains it."""
    finders: dict[str, Callable[[], Facts]] = {
        "entries": lambda: entry_facts(_fitted(entry_named(name))),
        "strategies": lambda: _strategy(find_strategy(name)),
        "corpora": lambda: _corpus(find_source(name)),
        "tasks": lambda: _task(choose("playground.finetuning.tasks", Task, name)),
    }
    found: dict[str, list[Facts]] = {}
    for kind, find in finders.items():
        with suppress(UserError):
            found[kind] = [find()]
    if found:
        return found
    if meant := nearest(name):
        raise UserError(meant)
    everything = (entries(), objectives(), strategies(), sources(), tasks())
    near = ", ".join(three_nearest(name, (item for items in everything for item in items.values())))
    raise UserError(f"There is nothing named {name!r}; the nearest: {near}.")


def _objective(o: Objective) -> Facts:
    facts = {"name": o.name, "group": o.group, "row": o.row, "idea": o.idea, "source": o.source}
    return facts | {"plan": list(o.plan_keys), "knobs": list(o.knobs)}


def _strategy(s: Strategy) -> Facts:
    return {"name": s.name, "group": s.family, "idea": s.idea, "source": s.source, "knobs": list(knobs_of(s))}


def _corpus(s: Source) -> Facts:
    settings = [] if s.settings is None else knobs(s.settings)
    return {"name": s.name, "idea": s.idea, "knobs": [k.name for k in settings]}


def _task(t: Task) -> Facts:
    return {"name": t.name, "idea": t.idea, "source": t.source}


def _fitted(entry: Entry) -> Entry:
    """The entry with every part that its objective's targets need, as when training begins."""
    recipe, needs = entry.recipe, entry.objective.needs
    corpus = open_corpus(entry.corpus, tokens=TEXT)
    rows = BatchSampler.of(corpus, recipe.seq_len, recipe.batch_size, 0, torch.device("cpu"), needs).evaluation()
    examples = entry.objective.specimens(rows, generator(0, "asked"))
    return replace(entry, model=with_required_parts(entry.model, *examples))


def entry_facts(entry: Entry) -> Facts:
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
        "model": asdict(entry.model),
        "recipe": asdict(entry.recipe),
    }


@cache
def _parameters(shape: Architecture) -> int:
    """The parameters of a model at a vocabulary of 800 words; many entries have one shape."""
    model = LanguageModel(shape, VOCABULARY, None, ["word"] * VOCABULARY)
    return sum(p.numel() for p in model.parameters())
