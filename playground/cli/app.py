"""`playground app`: serve the pages on this machine, or to a class."""

import argparse
from importlib import import_module
from typing import Any

from playground.cli.options import Parser, refuse_unused, whole
from playground.errors import UserError


def add(command: Parser) -> None:
    """The options of the command."""
    command.add_argument("--port", type=whole, default=5006, metavar="N", help="5006 by default; 0 takes any free port")
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")
    command.add_argument(
        "--public", action="store_true", help="serve others too: runs train in turn, and each visit is isolated"
    )
    command.add_argument("--prefix", default="", metavar="/PATH", help="the path under which a reverse proxy serves it")
    command.add_argument(
        "--origin", action="append", default=[], metavar="HOST",
        help="a host at which the app may be opened, as the browser shows it; any other is refused. By default the "
        "name and the address of this machine",
    )  # fmt: skip
    command.add_argument(
        "--password", default="", metavar="FILE|env",
        help="ask for a password: the first line of a file, or the environment variable PLAYGROUND_PASSWORD",
    )  # fmt: skip
    command.set_defaults(run=serve)


def serve(given: argparse.Namespace) -> int:
    """Serve until interrupted."""
    server = import_module("widgets.app.server")
    if not server.installed():
        raise UserError("The app needs Panel; install it with: pip install 'pretraining-playground[app]'.")
    return server.serve(given.port, browser=not given.no_browser, public=_public(given))


def _public(given: argparse.Namespace) -> Any:
    """How others are served; None where nobody else is."""
    if given.public:
        return import_module("widgets.app.public").public(given.prefix, given.password, given.origin)
    refuse_unused(given, "it is for an app that is open to others; add --public", "prefix", "origin", "password")
    return None
