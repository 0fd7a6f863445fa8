"""The public names: a module's `__all__`. Documents, notebooks and examples import nothing else."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import playground
import widgets

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FREE = [*sorted((ROOT / "notebooks").glob("*.ipynb")), *sorted((ROOT / "examples").glob("*.py")), ROOT / "README.md"]
"""What is no file of a catalogue, so that it takes from `playground` what is there."""


def code_of(path: Path) -> str:
    """The Python of a file: its cells, its blocks, or all of it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        return "\n".join(re.sub(r"(?m)^[%!].*$", "", cell.source) for cell in cells if cell.cell_type == "code")
    return text if path.suffix == ".py" else "\n".join(re.findall(r"(?s)```python\n(.*?)```", text))


def imports_of(code: str) -> list[tuple[str, str]]:
    """Each module and name that is imported of ours; the name is empty where a whole module is."""
    nodes = list(ast.walk(ast.parse(code)))
    named = [(n.module, a.name) for n in nodes if isinstance(n, ast.ImportFrom) and n.module for a in n.names]
    whole = [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [(module, name) for module, name in (*named, *whole) if module.split(".")[0] in ("playground", "widgets")]


def names_in(module: str) -> list[str]:
    return getattr(importlib.import_module(module), "__all__", [])


@pytest.mark.parametrize("path", [*DOCUMENTS, *FREE[:-1]], ids=lambda path: path.name)
def test_only_public_names_are_imported(path):
    code = code_of(path)
    inline = re.findall(r"`(from (?:playground|widgets)[^`]*)`", path.read_text(encoding="utf-8"))
    found = imports_of("\n".join([code, *inline]))
    assert [(module, name) for module, name in found if name not in names_in(module)] == []
    if path in FREE:
        deeper = [name for module, name in found if module not in ("playground", "widgets")]
        assert [name for name in deeper if name in playground.__all__] == []


def test_the_public_names_are_few_and_each_is_loaded_when_it_is_asked_for():
    assert len(playground.__all__) <= 30 and set(playground.__all__) <= set(dir(playground))
    for package in (playground, widgets):
        assert package.__all__ == sorted(package.__all__)
        assert [name for name in package.__all__ if not callable(getattr(package, name))] == []
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing


def test_a_type_checker_sees_the_same_names():
    """Those that are imported for it, those that are loaded, and `__all__`."""
    seen = {name: module for module, name in imports_of(Path(playground.__file__).read_text(encoding="utf-8"))}
    loaded = {name: f"playground.{module}" for module, names in playground.MODULES.items() for name in names}
    assert seen == loaded
    assert sorted(loaded) == playground.__all__


def test_the_package_alone_loads_nothing():
    code = "import sys; before = set(sys.modules); import playground; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["playground"]


def test_no_module_of_the_engine_imports_from_the_package():
    """They import each other by their rooms; the import contracts leave the public names out."""
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / "playground").rglob("*.py")
        if (
            names := [
                n for module, n in imports_of(path.read_text()) if module == "playground" and n in playground.__all__
            ]
        )
    }
    assert found == {}
