"""`playground table`: the survey's input/target table for a text."""

import argparse
import re
from collections.abc import Sequence
from typing import Any

from playground.cli.options import command, given_text, pairs, say, text_options
from playground.errors import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    table = command(commands, "table", "the survey's input/target table for a text", show_table)
    text_options(table)
    table.set_defaults(seed=None)
    table.add_argument("--plan", nargs="+", action="extend", default=[], metavar="ROW:KEY=VALUE", help="a row's plan")


def show_table(given: argparse.Namespace) -> int:
    """Print every row that the text allows."""
    from playground.trace.rebuild import table

    text = given_text(given)
    done, refused = table(text, given.seed, _plans(given.plan), given.pair)
    rows = [r.facts() for r in done]
    left_out = [{"row": o.row, "objective": o.name, "reason": reason} for o, reason in refused]
    width = max(len(r["survey"]["inputs"]) for r in rows) if rows else 0
    lines = [f"{r['row']:<20} {r['survey']['inputs']:<{width}}  ->  {r['survey']['targets']}" for r in rows]
    lines += [f"{o['row']:<20} left out: {o['reason']}" for o in left_out]
    return say(given, {"text": text, "seed": given.seed or 0, "rows": rows, "left_out": left_out}, lines)


def _plans(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """`MLM:chosen=3,8` for one row; a plan without a row holds for every row that has its key."""
    plans: dict[str, dict[str, str]] = {}
    for setting in settings:
        pairs([setting], "The plan")
        found = re.fullmatch(r"(?:([^=]*):)?(\w+)=(.*)", setting.strip(), re.DOTALL)
        if not found:
            raise Refusal(f"The plan {setting!r} is not understood; write it as row:key=value, such as MLM:chosen=3,8.")
        plans.setdefault(found[1] or "", {})[found[2]] = found[3]
    return plans
