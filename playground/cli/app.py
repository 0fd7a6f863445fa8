"""`playground app`: serve the pages on this machine."""

import argparse
from importlib import import_module

from playground.cli.options import Parser, whole


def add(command: Parser) -> None:
    """The options of the command."""
    command.add_argument("--port", type=whole, default=5006, metavar="N", help="5006 by default; 0 takes any free port")
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")
    command.set_defaults(run=serve)


def serve(given: argparse.Namespace) -> int:
    """Serve until interrupted."""
    return import_module("widgets.app.server").serve(given.port, browser=not given.no_browser)
