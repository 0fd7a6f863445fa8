"""The tile in JupyterLab's launcher: starts the app behind Jupyter's own proxy and login."""

import sys
from pathlib import Path
from typing import Any

from widgets.app.lifetimes import LOOKED_EVERY, LOST_FOR
from widgets.app.server import LARGEST_MESSAGE, installed


def setup_playground() -> dict[str, Any]:
    """What jupyter-server-proxy needs to know; imports nothing heavy, it runs when Jupyter starts."""
    here = Path(__file__).parent
    command = [
        sys.executable, "-m", "panel", "serve", str(here / "panel_entry.py"), "--unix-socket", "{unix_socket}",
        "--index", "panel_entry", "--websocket-max-message-size", str(LARGEST_MESSAGE),
        "--plugins", "widgets.app.session",
        "--unused-session-lifetime", str(LOST_FOR), "--check-unused-sessions", str(LOOKED_EVERY),
    ]  # fmt: skip
    launcher = {
        "enabled": installed(),
        "title": "Playground",
        "icon_path": str(here / "icon.svg"),
        "category": "Notebook",
    }
    # a class that starts all at once waits for the disk of its hub
    return {
        "command": command, "unix_socket": True, "timeout": 300, "new_browser_tab": False, "launcher_entry": launcher,
        "environment": {"MALLOC_ARENA_MAX": "2"},
    }  # fmt: skip
