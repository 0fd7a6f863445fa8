"""Serves the app on the loopback address, for one machine alone."""

import socket
from pathlib import Path
from typing import Any

from playground.errors import UserError

LARGEST_MESSAGE = 40_000_000  # bytes of one message from a browser: an uploaded file of 20 MB as text

LOST_FOR, LOOKED_EVERY = 600_000, 2_000  # ms that a lost visit is kept with its run, and between looks for ended ones


def serve(port: int, browser: bool = True) -> int:
    """Serve until interrupted; the address is printed once the door is open."""
    if not 0 <= port < 2**16:
        raise UserError(f"Port {port} does not exist; take one from 1024 to 65535, or 0 for any free one.")
    port = port or free_port()
    with socket.socket() as probe:
        taken = probe.connect_ex(("127.0.0.1", port)) == 0
    if taken:
        raise UserError(f"Port {port} is in use; choose another with --port, or 0 for any free one.")
    start(port, browser=browser, threaded=False)
    return 0


def start(port: int, *, browser: bool = False, threaded: bool = True, runs: Path | None = None) -> Any:
    """The server itself; `threaded` returns at once (for tests), `runs` is where training is kept."""
    import panel as pn
    import torch

    from widgets.app.main import app
    from widgets.app.session import ROUTES

    torch.set_num_threads(1)
    print(f"Pretraining Playground is at http://localhost:{port}", flush=True)
    return pn.serve(
        lambda: app(runs), port=port, address="127.0.0.1", show=browser, threaded=threaded, verbose=False,
        title="Pretraining Playground", websocket_origin=[f"localhost:{port}", f"127.0.0.1:{port}"],
        extra_patterns=ROUTES, websocket_max_message_size=LARGEST_MESSAGE,
        unused_session_lifetime_milliseconds=LOST_FOR, check_unused_sessions_milliseconds=LOOKED_EVERY,
    )  # fmt: skip


def free_port() -> int:
    """A port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
