"""Serves the app on the loopback address, for one machine and nobody else."""

import socket
from pathlib import Path
from typing import Any

from playground.errors import Refusal

LARGEST_MESSAGE = 40_000_000
"""Bytes of one message from a browser: an uploaded file of 20 MB as text."""

LOST_FOR, LOOKED_EVERY = 600_000, 2_000
"""Milliseconds that a visit is kept when its connection is lost, with the run that it trains, and between two looks
for visits that have ended."""


def serve(port: int, browser: bool = True) -> int:
    """Serve until interrupted; the address is printed once the door is open."""
    if not 0 <= port < 2**16:
        raise Refusal(f"Port {port} does not exist; take one from 1024 to 65535, or 0 for any free one.")
    port = port or free_port()
    if taken(port):
        raise Refusal(f"Port {port} is in use; choose another with --port, or 0 for any free one.")
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
        lambda: app(runs),
        port=port,
        address="127.0.0.1",
        websocket_origin=[f"localhost:{port}", f"127.0.0.1:{port}"],
        show=browser,
        title="Pretraining Playground",
        threaded=threaded,
        verbose=False,
        extra_patterns=ROUTES,
        websocket_max_message_size=LARGEST_MESSAGE,
        unused_session_lifetime_milliseconds=LOST_FOR,
        check_unused_sessions_milliseconds=LOOKED_EVERY,
    )


def taken(port: int) -> bool:
    """Whether somebody already listens there."""
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]
