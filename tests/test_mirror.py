"""A test is found where its module is: `tests/a/b/test_c.py` tests `a/b/c.py`, `a/b/c.js` or the package `a/b/c/`.

A test of a whole package may lie inside: `tests/a/b/test_b.py`.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]

ELSEWHERE = {
    "playground/analysis/test_knowledge": "several instruments that ask what a model knows",
    "playground/finetuning/test_peft": "adapters against those of the PEFT library",
    "playground/finetuning/test_soup_plane": "finetuning/instruments/soup_plane.py and the models that it evaluates",
    "playground/interop/test_released": "both directions of all families, on the released layouts",
    "playground/models/test_parts": "parts of models, of several modules, against their papers",
    "playground/objectives/test_oracles": "every stage against the slow lists of tests/oracles",
    "playground/objectives/test_properties": "laws over all objectives",
    "playground/test_binder": "binder/",
    "playground/test_docs": "docs/, README.md and CHANGELOG.md",
    "playground/test_mutants": "tests/mutants.py",
    "playground/test_packaging": "pyproject.toml, the Makefile and other files of the repository",
    "playground/test_public": "the public names, `playground/__init__.py`",
    "playground/test_site": "docs/pages.py",
    "playground/training/test_curriculum": "objectives/curriculum.py and the feed that reads its schedule",
    "playground/training/test_resume": "loop, checkpoint and saved runs together",
    "widgets/animation/test_rooms": "widgets/animation/js/, which of its folders may import which",
    "widgets/pages/test_file_encoding": "all pages that take a file",
    "widgets/pages/test_limits": "all pages that have a number",
    "widgets/state/test_imported": "an imported run, on all pages",
    "widgets/test_components": "all pages",
    "widgets/test_imports": "what the modules load",
}
"""Tests of no single module, and what they are about."""


def has_a_module(test: Path) -> bool:
    """Whether a module or a package of the same folder, or the place itself, has the name of a test."""
    position, name = ROOT / test.parent, test.name.removeprefix("test_")
    return name == position.name or any(
        (position / each).exists() for each in (f"{name}.py", f"{name}.js", f"{name}/__init__.py")
    )


def test_every_test_is_named_after_a_module_of_the_same_place():
    folders = (ROOT / "tests" / "playground", ROOT / "tests" / "widgets")
    tests = [path.relative_to(ROOT / "tests").with_suffix("") for top in folders for path in top.rglob("test_*.py")]
    assert {test.as_posix() for test in tests if not has_a_module(test)} == set(ELSEWHERE)
