"""`playground table`: print the survey's input/target table for a text."""

import argparse
import re
from collections.abc import Sequence

from playground.cli.objective import given_text, text_options
from playground.cli.options import Parser, common_options, pairs, say
from playground.errors import UserError
from playground.trace.json_schema import LeftOutRow, TableFacts
from playground.trace.rebuild import table

FACTS = (TableFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_table)
    text_options(command)
    command.set_defaults(seed=None)
    command.add_argument("--plan", nargs="+", action="extend", default=[], metavar="ROW:KEY=VALUE", help="a row's plan")


def show_table(given: argparse.Namespace) -> int:
    """Print every row that the text allows."""
    text = given_text(given)
    done, refused = table(text, given.seed, _plans(given.plan), given.pair)
    rows = [rebuilt.facts() for rebuilt in done]
    left_out: list[LeftOutRow] = [{"row": o.row, "objective": o.name, "reason": reason} for o, reason in refused]
    width = max((len(row["survey"]["inputs"]) for row in rows), default=0)
    lines = [f"{r['row']:<20} {r['survey']['inputs']:<{width}}  ->  {r['survey']['targets']}" for r in rows]
    lines += [f"{row['row']:<20} left out: {row['reason']}" for row in left_out]
    facts: TableFacts = {"text": text, "seed": given.seed or 0, "rows": rows, "left_out": left_out}
    return say(given, facts, lines)


def _plans(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """`MLM:chosen=3,8` for one row; a plan without a row is for every row that has its key."""
    plans: dict[str, dict[str, str]] = {}
    for setting in settings:
        pairs([setting], "The plan")
        found = re.fullmatch(r"(?:([^=]*):)?(\w+)=(.*)", setting.strip(), re.DOTALL)
        if not found:
            raise UserError(
                f"The plan {setting!r} is not understood; write it as row:key=value, such as MLM:chosen=3,8."
            )
        plans.setdefault(found[1] or "", {})[found[2]] = found[3]
    return plans
