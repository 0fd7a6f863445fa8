"""No function of the engine is longer than a page, and no class has more methods than one can keep in mind."""

import ast
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "playground"

MOST_LINES, MOST_METHODS = 40, 20
"""Lines of a function with its signature and without its docstring, and methods of a class."""

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(function):
    """The lines of a function without those of its docstring."""
    lines = function.end_lineno - function.lineno + 1
    docstring = function.body[0] if ast.get_docstring(function) is not None else None
    return lines - (docstring.end_lineno - docstring.lineno + 1) if docstring else lines


def oversized(tree, name):
    """What is too large in a module, each as its file, its name and its size."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and (lines := lines_of(node)) > MOST_LINES:
            yield f"{name} {node.name}", f"{lines} lines"
        if isinstance(node, ast.ClassDef):
            methods = sum(isinstance(each, FUNCTIONS) for each in node.body)
            if methods > MOST_METHODS:
                yield f"{name} {node.name}", f"{methods} methods"


def test_no_function_and_no_class_of_the_engine_is_too_large():
    found = {}
    for path in sorted(ENGINE.rglob("*.py")):
        found |= oversized(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ENGINE).as_posix())
    large = [f"{name} has {size}" for name, size in found.items()]
    assert not large, f"split: {'; '.join(large)} (at most {MOST_LINES} lines, {MOST_METHODS} methods)"


@pytest.mark.parametrize(("extra", "large"), [(0, {}), (1, {"m f": "41 lines", "m C": "21 methods"})])
def test_docstrings_are_not_counted_and_one_more_is_too_many(extra, large):
    body = "    x = 1\n" * (MOST_LINES - 1 + extra)
    methods = "    def m(self): ...\n" * (MOST_METHODS + extra)
    module = ast.parse(f'def f():\n    """One\n\n    two."""\n{body}class C:\n{methods}')
    assert dict(oversized(module, "m")) == large
