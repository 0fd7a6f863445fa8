"""Serves the app: on the loopback address for one machine alone, or to others where that is asked for."""

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.errors import UserError
from widgets.app.lifetimes import LOOKED_EVERY, LOST_FOR

if TYPE_CHECKING:
    from widgets.app.public import Public

LARGEST_MESSAGE = 40_000_000  # bytes of one message from a browser: an uploaded file of 20 MB as text


LOOPBACK, EVERYWHERE = "127.0.0.1", ""

OWN_NAMES = "localhost", "127.0.0.1"
HOSTS = frozenset((*OWN_NAMES, "[::1]"))
"""The hosts for which a request may ask; those of this machine cannot be made to point to another."""


def serve(port: int, browser: bool = True, public: "Public | None" = None) -> int:
    """Serve until interrupted; the address is printed once the door is open."""
    if not 0 <= port < 2**16:
        raise UserError(f"Port {port} does not exist; choose one from 1024 to 65535, or 0 for any free one.")
    port = port or free_port()
    if answers(port):
        raise UserError(f"Port {port} is in use; choose another with --port, or 0 for any free one.")
    start(port, browser=browser, threaded=False, public=public)
    return 0


def start(
    port: int, *, browser: bool = False, threaded: bool = True, runs: Path | None = None, public: "Public | None" = None
) -> Any:
    """The server itself; `threaded` returns at once (for tests), `runs` is where training is kept.

    Served to others (`public`), every visit keeps its runs in a folder of its own that ends with it.
    """
    import panel as pn
    import torch
    from tornado.ioloop import IOLoop

    from widgets.app.main import app, class_page, make_ready
    from widgets.app.session import ROUTES

    torch.set_num_threads(1)
    options = {
        "address": LOOPBACK, "websocket_origin": [f"localhost:{port}", f"127.0.0.1:{port}"], "extra_patterns": ROUTES,
        "websocket_max_message_size": LARGEST_MESSAGE, "hosts": HOSTS,
    }  # fmt: skip
    pages = {"/": lambda: app(runs, public)}
    if public is not None:
        pages["/class/{name}"] = lambda: class_page(public)
        options |= _for_others(port, public)
    if not threaded:  # the loop of this thread will serve; it runs these once the port is open
        IOLoop.current().add_callback(_say_where, port, public)
        IOLoop.current().add_callback(make_ready)
    return pn.serve(
        pages, port=port, show=browser, threaded=threaded, verbose=False,
        title="Pretraining Playground", unused_session_lifetime_milliseconds=LOST_FOR,
        check_unused_sessions_milliseconds=LOOKED_EVERY, **options,
    )  # fmt: skip


def _for_others(port: int, public: "Public") -> dict[str, Any]:
    """The options of a server that others reach, perhaps behind a proxy."""
    from widgets.app import public as others
    from widgets.app.session import ROUTES

    origins = public.origins or others.addresses(port)
    return {
        "address": EVERYWHERE, "prefix": public.prefix, "use_xheaders": True,
        "websocket_origin": list(origins), "hosts": HOSTS | {others.host_name(origin) for origin in origins},
        "extra_patterns": [*ROUTES, *others.ROUTES], "websocket_max_message_size": others.MESSAGE,
        "transforms": [others.Gzip],
        "cookie_path": f"{public.prefix}/", **others.guarded(public),
    }  # fmt: skip


def _say_where(port: int, public: "Public | None") -> None:
    if public is None:
        print(f"Pretraining Playground is at http://localhost:{port}", flush=True)
        return
    from widgets.app.public import addresses

    print(f"Pretraining Playground is served on port {port}{f', below {public.prefix}/' * bool(public.prefix)}.")
    print(f"Opened at {', '.join(public.origins or addresses(port))}, and at no other host; --origin adds one.")
    print(f"A teacher opens {public.prefix}/class/NAME?teacher with the key {public.key}", flush=True)


def installed() -> bool:
    """Whether the libraries of the extra `app` are here; Panel Material UI brings all others."""
    return find_spec("panel_material_ui") is not None


def answers(port: int) -> bool:
    """Whether a server of this machine listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def free_port() -> int:
    """A port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
