"""What there is: entries, objectives, strategies, corpora and tasks as plain data."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from difflib import get_close_matches
from typing import Any, NoReturn

import torch

from playground.catalog import choose
from playground.corpora import open_corpus
from playground.corpora.sources import Source, find_source, sources
from playground.errors import Refusal
from playground.finetuning import find_strategy, strategies, tasks
from playground.finetuning.data.task import Task
from playground.finetuning.strategy.strategy import Strategy
from playground.finetuning.strategy.strategy_knobs import knobs_of
from playground.knob import knobs
from playground.models import LanguageModel, with_required_parts
from playground.objectives import Objective, objectives
from playground.rng import generator
from playground.training.data import BatchSampler
from playground.zoo import Entry, entries, entry_named

VOCABULARY = 800
"""Words of the vocabulary for which the parameters of an entry are counted."""

TEXT = 20_000
"""Tokens of a corpus that are enough to see what an objective asks."""


def inventory(name: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Everything by kind, or what has one name or alias alone: an entry, an objective, a strategy ..."""
    if name is not None:
        return one(name)
    return {
        "entries": [entry_facts(e) for e in entries().values()],
        "objectives": [_objective(o) for o in objectives().values()],
        "strategies": [_strategy(s) for s in strategies().values()],
        "corpora": [_corpus(s) for s in sources().values()],
        "tasks": [_task(t) for t in tasks().values()],
    }


def one(name: str) -> dict[str, list[dict[str, Any]]]:
    """What has a name, by kind, for some share one; an objective is shown as the entry that trains it."""
    trials: dict[str, Callable[[], dict[str, Any]]] = {
        "entries": lambda: entry_facts(fitted_entry(entry_named(name))),
        "strategies": lambda: _strategy(find_strategy(name)),
        "corpora": lambda: _corpus(find_source(name)),
        "tasks": lambda: _task(choose("playground.finetuning.tasks", Task, name)),
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, find_one in trials.items():
        with suppress(Refusal):
            found[kind] = [find_one()]
    return found or _refuse(name)


def _refuse(name: str) -> NoReturn:
    """That nothing has this name, with the nearest that there are."""
    everything = (entries(), objectives(), strategies(), sources(), tasks())
    known = {known.lower(): known for named in everything for known in named}
    near = [known[close] for close in get_close_matches(name.lower(), known, cutoff=0.6)]
    said = f"the nearest: {', '.join(near)}" if near else "`playground zoo` lists all"
    raise Refusal(f"There is nothing named {name!r}; {said}.")


def _objective(o: Objective) -> dict[str, Any]:
    return {
        "name": o.name,
        "group": o.group,
        "row": o.row,
        "idea": o.idea,
        "source": o.source,
        "plan": list(o.plan_keys),
        "knobs": list(o.knobs),
    }


def _strategy(s: Strategy) -> dict[str, Any]:
    return {"name": s.name, "group": s.family, "idea": s.idea, "source": s.source, "knobs": list(knobs_of(s))}


def _corpus(s: Source) -> dict[str, Any]:
    turned = [k.name for k in knobs(s.settings)] if s.settings is not None else []
    return {"name": s.name, "idea": s.idea, "knobs": turned}


def _task(t: Task) -> dict[str, Any]:
    return {"name": t.name, "idea": t.idea, "source": t.source}


def fitted_entry(entry: Entry) -> Entry:
    """The entry with every part that its objective's questions need, as when training begins."""
    recipe, needs = entry.recipe, entry.objective.needs
    corpus = open_corpus(entry.corpus, tokens=TEXT)
    rows = BatchSampler.of(corpus, recipe.seq_len, recipe.batch_size, 0, torch.device("cpu"), needs).evaluation()
    return replace(
        entry, model=with_required_parts(entry.model, *entry.objective.specimens(rows, generator(0, "asked")))
    )


def entry_facts(entry: Entry) -> dict[str, Any]:
    """One entry as data, with the number of its parameters at a vocabulary of 800 words."""
    model = LanguageModel(entry.model, VOCABULARY, generator(0, "count"))
    return {
        "name": entry.name,
        "parameters": sum(p.numel() for p in model.parameters()),
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
        "corpus": entry.corpus,
        "model": asdict(entry.model),
        "recipe": asdict(entry.recipe),
    }
