"""`playground zoo`: what there is."""

import argparse
from collections.abc import Sequence
from typing import Any

from playground.cli.options import command, say


def add(commands: Any) -> None:
    """The options of the command."""
    zoo = command(commands, "zoo", "what there is", show_zoo)
    zoo.add_argument("name", nargs="?", help="one entry")


def show_zoo(given: argparse.Namespace) -> int:
    """Print the catalogue."""
    from playground.inventory import inventory

    facts = inventory(given.name)
    return say(given, facts, [line for kind, items in facts.items() for line in (kind, *_listed(items))])


def _listed(items: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each item, below the name of its group where it has one."""
    from playground.finetuning.strategy import FAMILIES
    from playground.objectives import GROUPS

    lines = []
    for group in ("", *GROUPS, *FAMILIES):
        members = [item for item in items if item.get("group", "") == group]
        lines += [f"  {group}"] if group and members else []
        lines += [f"{'    ' if group else '  '}{item['name']:<22} {item.get('idea', '')}" for item in members]
    return lines
