"""The command line: every command prints for people, or one JSON object with `--json`.

Exit status 0 done, 1 the run failed, 2 the arguments are wrong (one sentence on standard error).
"""

import io
import sys
from collections.abc import Sequence

from playground import __version__
from playground.cli import align, app, bake, choose, compare, edit, objective, runs, table, train, zoo
from playground.cli.options import Parser
from playground.errors import Refusal

COMMANDS = (app, objective, table, train, runs, compare, choose, edit, align, bake, zoo)
"""One file for each command, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):  # a character that the terminal has no letter for is told by its number
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    given = parser().parse_args(arguments)
    try:
        return given.run(given)
    except Refusal as refusal:
        print(str(refusal), file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1


def parser() -> Parser:
    """All commands with their options."""
    top = Parser(prog="playground", description="Pre-training objectives and tiny models, to see and to train.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    for made in COMMANDS:
        made.add(commands)
    return top
