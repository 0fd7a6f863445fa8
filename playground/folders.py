"""Where runs and caches are kept: in the user's own folders, or below `PLAYGROUND_HOME`."""

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

HOME = "PLAYGROUND_HOME"
"""The environment variable that moves both."""

NAME = "pretraining-playground"


def runs_folder() -> Path:
    """The folder with the list of runs; it need not exist."""
    return _home(user_data_path(NAME, appauthor=False)) / "runs"


def cache_folder(kind: str) -> Path:
    """The folder of one kind of file in the cache; it need not exist."""
    return _home(user_cache_path(NAME, appauthor=False)) / kind


def run_folder(run: str) -> str:
    """The folder of a run that is named by a path or by its name in the list; else what was named."""
    listed = runs_folder() / run
    return str(listed) if not os.path.exists(run) and os.path.exists(listed) else run


def run_name(folder: Path) -> str:
    """What `run_folder` finds the folder of a run by: its name in the list, else its path."""
    return folder.name if folder.parent == runs_folder() else str(folder)


def _home(folder: Path) -> Path:
    return Path(os.environ[HOME]).expanduser().absolute() if os.environ.get(HOME) else folder
