"""What Binder runs, run here in an empty home with the packages that are installed: building, and starting."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from playground.cli import parser
from playground.training.store.ready_made import defaults

ROOT = Path(__file__).parents[2]
PYTHON = """#!/usr/bin/env bash
echo "$*" >> "$HOME/asked"
"""
"""A Python that installs and trains nothing: it notes what it is asked."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an image after `postBuild`."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    (home / "bin" / "python").write_text(PYTHON)
    (home / "bin" / "python").chmod(0o755)
    path = os.pathsep.join((str(home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"HOME": str(home), "PATH": path, "JUPYTER_DATA_DIR": str(home / "data")}
    subprocess.run([ROOT / "binder" / "postBuild"], cwd=ROOT, env=environment, check=True, capture_output=True)
    return home


def test_it_installs_in_the_pinned_versions_and_builds_what_the_pages_begin_with(home):
    install, build = (shlex.split(line)[1:] for line in (home / "asked").read_text().splitlines())
    assert install == ["pip", "install", "--no-cache-dir", "--constraint", "constraints.txt", "--editable", ".[app]"]
    assert build[0] == "playground"
    given = parser().parse_args(build[1:])
    assert (given.name, given.bases, given.cache) == ("build", [], None) and defaults()


def test_every_notebook_is_trusted(home):
    notary = NotebookNotary(data_dir=str(home / "data"))
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert notebooks and all(notary.check_signature(nbformat.read(path, as_version=4)) for path in notebooks)


def test_a_session_takes_one_core_and_nothing_from_another_host(home):
    started = [ROOT / "binder" / "start", "env"]
    said = subprocess.run(started, env={"HOME": str(home)}, check=True, capture_output=True, text=True).stdout
    assert {"OMP_NUM_THREADS=1", "PANEL_INLINE=1", "MALLOC_ARENA_MAX=2"} <= set(said.splitlines())
