"""What there is: entries, objectives, strategies, corpora and tasks as plain data."""

from dataclasses import asdict
from typing import Any

from playground.catalog import find
from playground.corpora.source import Source
from playground.finetuning import strategies, tasks
from playground.models import LanguageModel
from playground.objectives import objectives
from playground.seeds import generator
from playground.zoo import Entry, entries, find_entry

VOCABULARY = 800
"""Words of the vocabulary for which the parameters of an entry are counted."""


def inventory(name: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Everything by kind, or one entry alone."""
    if name is not None:
        return {"entries": [entry_facts(find_entry(name))]}
    return {
        "entries": [entry_facts(e) for e in entries().values()],
        "objectives": [
            {
                "name": o.name,
                "group": o.group,
                "row": o.row,
                "idea": o.idea,
                "source": o.source,
                "plan": list(o.plan_keys),
                "knobs": list(o.knobs),
            }
            for o in objectives().values()
        ],
        "strategies": [
            {"name": s.name, "group": s.family, "idea": s.idea, "source": s.source} for s in strategies().values()
        ],
        "corpora": [{"name": s.name, "idea": s.idea} for s in find("playground.corpora", Source).values()],
        "tasks": [{"name": t.name, "idea": t.idea, "source": t.source} for t in tasks().values()],
    }


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
        "corpus": entry.corpus,
        "model": asdict(entry.model),
        "recipe": asdict(entry.recipe),
    }
