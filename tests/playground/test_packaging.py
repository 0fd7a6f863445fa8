"""What a fresh clone promises: its files name only what exists, and the versions that are written twice agree."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from playground import __version__
from playground.cli import parser
from playground.training.store.bundled import bundled

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = PROJECT["project"]["name"]
OPTIONAL = PROJECT["project"]["optional-dependencies"]
FOLDERS = ("playground", "widgets", "tests", "notebooks", "examples", "benchmarks", "binder", "docs", ".ci")
CACHES = {"__pycache__", ".ipynb_checkpoints", ".hypothesis"}


def requirements(lines) -> dict[str, Requirement]:
    """The packages that lines name, without comments, options and our own."""
    overrides = [Requirement(line.split("#")[0]) for line in lines if re.match(r"\w", line)]
    return {canonicalize_name(r.name): r for r in overrides if r.name != OURS}


def read_lines(name: str) -> list[str]:
    return (ROOT / name).read_text().splitlines()


def version(pin: Requirement) -> str:
    """The public part of a pinned version: `2.13.0` of `==2.13.0+cpu`."""
    return str(pin.specifier).removeprefix("==").split("+")[0]


def our_files() -> list[Path]:
    """The files of the repository, whether or not git knows them yet."""
    deep = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if not CACHES & set(path.parts)]
    return [path for path in (*ROOT.iterdir(), *deep) if path.is_file() and path.name != ".git"]  # of a worktree


RUNTIME = requirements(PROJECT["project"]["dependencies"])
EXTRAS = requirements(line for extra in OPTIONAL.values() for line in extra)
BUILD = requirements(PROJECT["build-system"]["requires"])
PINS = requirements(read_lines("constraints.txt"))
BINDER = requirements(read_lines("binder/requirements.txt"))


def test_the_extras_are_there():
    assert set(OPTIONAL) == {"app", "lab", "hub", "cluster", "benchmarks", "docs", "test", "dev"}


def test_the_version_is_the_one_of_the_code():
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "playground/__init__.py"
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", sorted(RUNTIME | EXTRAS | BUILD))
def test_every_package_that_we_name_is_pinned_to_a_version_that_we_allow(name):
    assert name in PINS, f"add {name} to constraints.txt"
    assert (RUNTIME | EXTRAS | BUILD)[name].specifier.contains(version(PINS[name]))


def test_every_constraint_is_one_exact_version_for_any_build():
    loose = [str(pin) for pin in PINS.values() if not re.fullmatch(r"==[\w.]+", str(pin.specifier))]
    assert loose == []


@pytest.mark.slow
def test_every_library_that_the_code_imports_is_a_declared_package():
    known = packages_distributions()
    trees = [ast.parse(path.read_text()) for room in ("playground", "widgets") for path in (ROOT / room).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    tops = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"playground", "widgets"}
    stray = {top for top in tops if not {canonicalize_name(d) for d in known.get(top, ())} & set(RUNTIME | EXTRAS)}
    assert stray == set()


def test_a_wheel_and_a_source_archive_hold_the_bundled_models():
    """Whole folders are packed, except for what git ignores."""
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"] == {"packages": ["playground", "widgets"]} and "/playground" in targets["sdist"]["include"]
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in bundled().values()]
    ignored = [line.rstrip("/") for line in read_lines(".gitignore") if line and not line.startswith("#")]
    parts = {*files, *(part for file in files for part in file.split("/"))}
    assert files and [(rule, part) for rule in ignored for part in parts if fnmatch(part, rule)] == []


def test_binder_installs_what_the_playground_needs_in_the_pinned_versions():
    assert {name: version(pin) for name, pin in BINDER.items()} == {name: version(PINS[name]) for name in BINDER}
    assert set(RUNTIME | requirements(OPTIONAL["app"])) | {"jupyter-server-proxy"} <= set(BINDER)


@pytest.mark.parametrize("name", ["binder/postBuild", "binder/start", ".ci/run"])
def test_a_script_can_be_run_and_reads_as_shell(name):
    assert os.access(ROOT / name, os.X_OK)
    assert read_lines(name)[0] == "#!/usr/bin/env bash"
    subprocess.run(["bash", "-n", ROOT / name], check=True)


def test_binder_names_files_that_exist():
    build = (ROOT / "binder/postBuild").read_text()
    assert {"constraints.txt", "notebooks/*.ipynb"} <= set(build.split())
    assert list(ROOT.glob("constraints.txt"))
    assert list(ROOT.glob("notebooks/*.ipynb"))
    assert [line.strip() for line in read_lines("binder/runtime.txt")] == ["python-3.11"]


def test_ci_runs_the_tests_of_the_makefile():
    assert re.search(r"^make test\b", (ROOT / ".ci/run").read_text(), re.MULTILINE)


def targets() -> set[str]:
    return {found[1] for line in read_lines("Makefile") if (found := re.match(r"([a-z]+):", line))}


def test_the_makefile_has_the_targets():
    assert {"help", "app", "lab", "test", "check", "clean"} <= targets()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "binder/README.md"])
def test_a_page_names_only_targets_and_files_that_exist(name):
    page = (ROOT / name).read_text()
    assert set(re.findall(r"(?:`|^ *)make ([a-z]+)", page, re.MULTILINE)) <= targets()
    links = [link for link in re.findall(r"(?:\]\(|src=\")([^)#\"]+)[)\"]", page) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_page_of_the_command_line_lists_every_command():
    commands = next(action.choices for action in parser()._actions if action.choices)
    rows = set(re.findall(r"^\| `playground ([a-z]+)", (ROOT / "docs/cli.md").read_text(), re.MULTILINE))
    assert rows == set(commands)


def test_no_file_names_a_folder_of_somebodys_machine():
    personal = re.compile(rb"(?<![\w.:/])/(?:work|root|home|Users|opt)/\w|\b[A-Z]:\\\\?Users\b")
    assert [str(path.relative_to(ROOT)) for path in our_files() if personal.search(path.read_bytes())] == []
