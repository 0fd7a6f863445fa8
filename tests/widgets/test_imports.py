"""What a part loads: only the served app needs the extra `app`, and a saved record needs not even torch."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from playground import cli
from playground.errors import UserError
from playground.trace.lockstep import lockstep
from playground.trace.rebuild import rebuild
from widgets.animation import StageWidget, svg
from widgets.app.jupyter_proxy import setup_playground

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
APP = [Requirement(each).name.replace("-", "_") for each in PROJECT["project"]["optional-dependencies"]["app"]]

CELLS = next(rule for rule in PROJECT["tool"]["importlinter"]["contracts"] if rule["id"] == "app")["source_modules"]
"""What the import contract keeps free of them; it does not know that a module runs its package first."""

IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages

for name in cells:
    module = import_module(name)
    for each in walk_packages(getattr(module, "__path__", ()), f"{name}."):
        if each.name != "widgets.animation.pane":
            import_module(each.name)

from widgets import stage, table

assert "<figure>" in stage("PLM")._repr_html_() and "<table>" in table()._repr_html_()
"""
DRAW_SAVED = """
from widgets.animation import StageWidget, page, svg

drawn = [[StageWidget(record=record).record, page(record), svg(record)] for record in records]
print(json.dumps(drawn))
"""


def run_without(libraries, code, **values):
    """What a program prints in a Python in which these libraries are not installed."""
    values = {"sys.modules": dict.fromkeys(libraries), **values}
    given = "import json, sys; values = json.load(sys.stdin); sys.modules.update(values.pop('sys.modules'))"
    code = f"{given}; globals().update(values)\n{code}"
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(values), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cells_and_commands_need_no_library_of_the_app():
    run_without(APP, IMPORT_ALL, cells=CELLS)


def test_a_saved_record_is_drawn_without_torch():
    one = rebuild("PLM").record()
    saved = [StageWidget(record=record).record for record in (one, lockstep([one, one]))]
    drawn = json.loads(run_without([*APP, "torch", "numpy", "scipy", "sklearn"], DRAW_SAVED, records=saved))
    for record, (shown, page, picture) in zip(saved, drawn, strict=True):
        assert shown == record
        assert picture == svg(record)
        assert page.startswith("<!doctype html>") and "drawCells();" in page and "<figure>" in page


def test_what_is_no_record_of_a_stage_is_refused():
    with pytest.raises(UserError, match=r"no frames, but objective, .*; save stage\(\.\.\.\)\.record\.$"):
        StageWidget(record=rebuild("MLM").facts())


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [
        ("app", "panel_material_ui", "app"),
        ("app --public", "panel_material_ui", "app"),
        ("lessons run", "papermill", "lab"),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(command, library, extra, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, library, None)
    assert cli.main(command.split()) == 2
    said = rf"[A-Z][\w ]+; install it with: pip install 'pretraining-playground\[{extra}\]'\.\n"
    assert re.fullmatch(said, capsys.readouterr().err)


def test_there_is_no_tile_for_an_app_that_is_not_installed(monkeypatch):
    assert setup_playground()["launcher_entry"]["enabled"]
    monkeypatch.setitem(sys.modules, "panel_material_ui", None)
    assert not setup_playground()["launcher_entry"]["enabled"]
