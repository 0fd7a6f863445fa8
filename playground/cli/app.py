"""`playground app`: serve the pages on this machine."""

import argparse
import importlib
from typing import Any

from playground.cli.options import whole


def add(commands: Any) -> None:
    """The options of the command."""
    app = commands.add_parser("app", help="serve the playground on this machine")
    app.add_argument("--port", type=whole, default=5006, metavar="N", help="5006 by default; 0 takes any free port")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    app.set_defaults(run=serve)


def serve(given: argparse.Namespace) -> int:
    """Serve until interrupted."""
    return importlib.import_module("widgets.app.server").serve(given.port, browser=not given.no_browser)
