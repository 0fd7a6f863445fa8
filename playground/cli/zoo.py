"""`playground zoo`: what there is."""

import argparse
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from playground.cli.options import Parser, common_options, say
from playground.finetuning.strategy.strategy import FAMILIES
from playground.inventory import inventory
from playground.objectives import GROUPS

READ = {"bidirectional": "from both sides", "left to right": "left to right", "right to left": "right to left"}
"""How a recurrent network reads, by the attention of its architecture."""


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_zoo)
    command.add_argument("name", nargs="?", help="the card of one entry, objective, strategy, corpus or task")


def show_zoo(given: argparse.Namespace) -> int:
    """Print the catalogue, or the cards of one name, each below its kind where there are several."""
    facts = inventory(given.name)
    if given.name is not None:
        cards = [([kind] if len(facts) > 1 else [], _card(kind, item)) for kind, [item] in facts.items()]
        return say(given, facts, [line for heading, card in cards for line in (*heading, *card)])
    return say(given, facts, [line for kind, items in facts.items() for line in (kind, *_listed(items))])


def _card(kind: str, item: dict[str, Any]) -> Iterator[str]:
    """One item of the catalogue, a line for each fact that it has."""
    year = f", {item['year']}" if item.get("year") else ""
    yield f"{item['name']}{year}"
    for title, text in _facts(kind, item):
        yield from wrap(text, 117, initial_indent=f"  {title:<14} ", subsequent_indent=" " * 17)


def _facts(kind: str, item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "idea", item["idea"]
    yield "source", item.get("source", "")
    if kind != "entries":
        yield "family", item.get("group", "")
        yield "knobs", ", ".join(item.get("knobs", ()))
        return
    yield from ((name, item[name]) for name in ("objective", "loss", "formula"))
    yield "architecture", ", ".join(_architecture(item["model"]))
    yield "parameters", f"{item['parameters']:,} with a vocabulary of {item['vocabulary']} words"
    yield "corpus", item["corpus"]
    yield "published", "; ".join(f"{p['name']} {p['parameters'] / 1e6:,.0f}M ({p['where']})" for p in item["published"])
    yield "trained on", item["data"]
    yield "recipe", ", ".join(f"{name} {value}" for name, value in item["recipe"].items())
    yield "parent", item["parent"]
    yield "what is new", item["changed"]
    yield "differences", item["differences"]
    yield "to train it", f'playground train "{item["name"]}"'


def _architecture(model: dict[str, Any]) -> Iterator[str]:
    if model["kind"] == "static":
        yield f"two tables of {model['width']} numbers for every word"
        return
    if model["kind"] == "transformer":
        yield f"{model['layers']} layers of width {model['width']} with {model['heads']} heads"
        yield f"{model['positions']} positions"
        yield f"{'two directions apart' if model['backward'] else model['attention']} attention"
    else:
        yield f"{model['layers']} {model['kind'].upper()} layers of width {model['width']}"
        yield "read in both directions apart" if model["backward"] else f"read {READ[model['attention']]}"
    parts = {
        "embedding_size": f"word vectors of {model['embedding_size']} numbers",
        "char_cnn": "word vectors made of letters",
        "max_pooling": "a text is the maximum of its states",
        "dropout": f"dropout {model['dropout']:g}",
        "weight_drop": f"weight drop {model['weight_drop']:g}",
        "decoder_layers": f"a decoder of {model['decoder_layers']} layers",
        "two_streams": "two streams",
        "rtd_head": "a head for 'original or replaced?'",
        "sbo_head": "a head for span boundaries",
        "generator_ratio": f"a generator of {model['generator_ratio']:g} of the width",
        "segments": f"{model['segments']} segments",
        "languages": f"{model['languages']} languages",
    }
    shared = {"all": "one layer used at every depth", "attention": "shared attention", "mlp": "shared MLPs"}
    yield from (text for name, text in parts.items() if model[name])
    yield from (text for name, text in shared.items() if model["layer_sharing"] == name)
    yield from (f"a head for the label {name!r} of {number} classes" for name, number in model["labels"])


def _listed(items: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each item, below the name of its group where it has one."""
    lines = []
    for group in ("", *GROUPS, *FAMILIES):
        members = [item for item in items if item.get("group", "") == group]
        lines += [f"  {group}"] if group and members else []
        lines += [f"{'    ' if group else '  '}{item['name']:<22} {item.get('idea', '')}" for item in members]
    return lines
