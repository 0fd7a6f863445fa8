"""`playground zoo`: what there is."""

import argparse
import sys
from collections.abc import ItemsView, Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import NotRequired, cast

import torch
from tqdm import tqdm

from playground.cli.options import Parser, common_options, number_of, path, refuse_unused, say
from playground.cli.ready_made import BUILD, BuiltFacts, build
from playground.finetuning.strategy.strategy import FAMILIES
from playground.inventory import EntryFacts, Inventory, ItemFacts, inventory
from playground.models import Architecture
from playground.objectives import GROUPS
from playground.training.properties import Properties, measure_properties
from playground.zoo import entries, entry_named


class ZooFacts(Inventory):
    """What there is; with a name, only the kinds that have an item of this name."""

    properties: NotRequired[list[Properties]]
    """The measured properties of each system (`--measure`)."""


FACTS = (ZooFacts, BuiltFacts)

READ = {"bidirectional": "from both sides", "left to right": "left to right", "right to left": "right to left"}
"""How a recurrent network reads, by the attention of its architecture."""

MEASURED = {
    "sees right": "a word's state in a plain text changes with the words after it",
    "mismatch": "share of the positions in training that hold a mask token or a sentinel, which no text has in use",
    "generates": "some answers are words and depend on no later word, so the model can generate text",
    "scored": "share of the positions that carry a loss",
    "ms a step": "the median of a few training steps on this machine, and its share for each scored position",
}
"""What the columns of the measured properties mean."""


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_zoo)
    option = command.add_argument
    option("name", nargs="?", help="the card of one entry, objective, strategy, corpus or task; or build")
    option(
        "bases",
        nargs="*",
        metavar="ENTRY",
        help="after build: what is trained into the cache; by default the standard models",
    )
    option("--measure", action="store_true", help="a table of measured properties of each entry, or of one")
    option(
        "--check",
        action="store_true",
        help="with build: train nothing, list what is ready; status 1 if anything is missing",
    )
    option("--bundled", action="store_true", help="with build: rebuild the small models inside the package")
    option("--corpus", help="with build: a corpus other than the entry's own")
    option("--steps", type=number_of(), metavar="N", help="with build: steps other than the recipe's")
    option("--cache", type=path, metavar="DIR", help="with build: a folder other than the user's cache")


def show_zoo(given: argparse.Namespace) -> int:
    """Print the catalogue, the cards of one name, each below its kind where there are several, or more."""
    if given.name == BUILD:
        return build(given)
    building = ("bases", "check", "bundled", "corpus", "steps", "cache")
    refuse_unused(given, f"it is for `playground zoo {BUILD}`", *building)
    if given.measure:
        return _measure(given)
    refuse_unused(given, "nothing is built or measured", "seed")
    facts = inventory(given.name)
    if given.name is not None:
        cards = [([kind] if len(facts) > 1 else [], _card(kind, item)) for kind, [item] in _kinds(facts)]
        return say(given, facts, [line for heading, card in cards for line in (*heading, *card)])
    return say(given, facts, [line for kind, items in _kinds(facts) for line in (kind, *_listed(items))])


def _kinds(facts: Inventory) -> ItemsView[str, list[ItemFacts]]:
    """The items by kind."""
    return cast(dict[str, list[ItemFacts]], facts).items()


def _measure(given: argparse.Namespace) -> int:
    """Print the measured properties of every entry or of one, with a bar on standard error."""
    torch.set_num_threads(1)
    chosen = list(entries().values()) if given.name is None else [entry_named(given.name)]
    bar = tqdm(chosen, desc="entries", file=sys.stderr)
    properties = [measure_properties(entry, given.seed) for entry in bar]
    facts: ZooFacts = {**inventory(given.name), "properties": properties}
    return say(given, facts, _measured(properties))


def _measured(properties: Sequence[Properties]) -> list[str]:
    """A row for each entry, and what the columns mean."""
    wide = max(len(p.name) for p in properties)
    return [
        f"{'':<{wide}}  {'sees right':>10} {'mismatch':>9} {'generates':>9} {'scored':>7} {'ms a step':>10}"
        f" {'µs a position':>17} {'parameters':>11}",
        *(
            f"{p.name:<{wide}}  {_yes(p.right_context):>10} {p.mismatch:>9.1%} {_yes(p.generates):>9}"
            f" {p.taught:>7.1%} {p.step_ms:>10.1f} {p.taught_us:>17.1f} {p.parameters:>11,}"
            for p in properties
        ),
        *(f"{title}: {text}" for title, text in MEASURED.items()),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _card(kind: str, item: ItemFacts) -> Iterator[str]:
    """One item of the catalogue, a line for each fact that it has."""
    year = item.get("year")
    yield f"{item['name']}, {year}" if year else item["name"]
    for title, text in _entry(cast(EntryFacts, item)) if kind == "entries" else _facts(item):
        yield from wrap(text, 117, initial_indent=f"  {title:<14} ", subsequent_indent=" " * 17)


def _facts(item: ItemFacts) -> Iterator[tuple[str, str]]:
    yield "idea", item["idea"]
    yield "source", item.get("source", "")
    yield "family", item.get("group", "")
    yield "knobs", ", ".join(item.get("knobs", ()))


def _entry(item: EntryFacts) -> Iterator[tuple[str, str]]:
    yield "idea", item["idea"]
    yield "source", item["source"]
    yield "objective", item["objective"]
    yield "loss", item["loss"]
    yield "formula", item["formula"]
    yield "architecture", ", ".join(_architecture(item["model"]))
    yield "parameters", f"{item['parameters']:,} with a vocabulary of {item['vocabulary']} words"
    yield "corpus", item["corpus"]
    yield (
        "phases",
        "; then ".join(
            f"{p['name']} ({p['share']:.0%} of the steps, {p['objective']} on {p['corpus']}): {p['idea'].rstrip('.')}"
            for p in item["phases"]
        ),
    )
    yield "published", "; ".join(f"{p['name']} {p['parameters'] / 1e6:,.0f}M ({p['where']})" for p in item["published"])
    yield "trained on", item["data"]
    yield "recipe", ", ".join(f"{name} {value}" for name, value in asdict(item["recipe"]).items())
    yield "parent", item["parent"]
    yield "what is new", item["changed"]
    yield "differences", item["differences"]
    yield "to train it", f'playground train "{item["name"]}"'


def _architecture(model: Architecture) -> Iterator[str]:
    if model.kind == "static":
        side = f"a hidden layer over {model.window_radius} words on both sides"
        yield f"{'a table' if model.window_radius else 'two tables'} of {model.width} numbers for every word"
        yield from [side] if model.window_radius else ()
        return
    if model.kind == "transformer":
        yield f"{model.layers} layers of width {model.width} with {model.heads} heads"
        yield f"{model.positions} positions"
        yield f"{'two directions apart' if model.backward else model.attention} attention"
    else:
        kind = model.kind if model.kind == "window" else model.kind.upper()
        yield f"{model.layers} {kind} layers of width {model.width}"
        yield "read in both directions apart" if model.backward else f"read {READ[model.attention]}"
    parts = {
        "embedding_size": f"word vectors of {model.embedding_size} numbers",
        "window_radius": f"reaching {model.window_radius} positions to a side",
        "attention_window": f"bands of {model.attention_window} positions in every second layer",
        "char_cnn": "word vectors computed from characters",
        "max_pooling": "the vector of a text is the maximum of its states",
        "dropout": f"dropout {model.dropout:g}",
        "weight_drop": f"weight drop {model.weight_drop:g}",
        "decoder_layers": f"a decoder of {model.decoder_layers} layers",
        "two_streams": "two streams",
        "rtd_head": "a head for 'original or replaced?'",
        "sbo_head": "a head for span boundaries",
        "regression_head": "a head for vectors",
        "teacher": "a teacher, a slow copy of the network",
        "generator_ratio": f"a generator of {model.generator_ratio:g} of the width",
        "segments": f"{model.segments} segments",
        "languages": f"{model.languages} languages",
    }
    shared = {"all": "one layer shared by all depths", "attention": "shared attention", "mlp": "shared MLPs"}
    yield from (text for name, text in parts.items() if getattr(model, name))
    yield from (text for name, text in shared.items() if model.layer_sharing == name)
    if model.second_positions != "none":
        yield f"a second position of each token, {model.second_positions}"
    yield from (f"a head for the label {name!r} of {number} classes" for name, number in model.labels)
    yield from (f"vectors for the label {name!r} of {number} classes" for name, number in model.label_embeddings)


def _listed(items: Sequence[ItemFacts]) -> list[str]:
    """A line for each item, below the name of its group where it has one."""
    lines = []
    for group in ("", *GROUPS, *FAMILIES):
        members = [item for item in items if item.get("group", "") == group]
        lines += [f"  {group}"] if group and members else []
        lines += [f"{'    ' if group else '  '}{item['name']:<22} {item.get('idea', '')}" for item in members]
    return lines
