"""No behaviour hangs on wording: errors are known by type and fields, controls by a command, states by a value."""

import ast
import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
MODULES = sorted(path for package in ("playground", "widgets") for path in (HOUSE / package).rglob("*.py"))
SCRIPTS = sorted((HOUSE / "widgets").rglob("*.js"))

READING = {
    "startswith", "endswith", "partition", "rpartition", "split", "removeprefix", "removesuffix", "find", "index",
    "replace", "count",
}  # fmt: skip
SEARCHING = {"search", "match", "fullmatch", "findall", "split", "sub"}

SENTENCES = {"trouble", "notice", "message", "said", "sentence", "silent", "gave_way", "label", "caption", "error"}
"""The attributes that hold what a person reads."""

IN_SCRIPTS = re.compile(
    r"\[aria-label[*^$~|]?=|innerText|"
    r"(?:textContent|\.title|ariaLabel)\)?\s*(?:===|!==\s*[\"'`]|\.(?:includes|startsWith|endsWith|match|indexOf|search)\b)|"
    r"(?:includes|test)\([^()]*textContent"
)
"""What finds an element, or decides, by the words on it."""


def caught(tree: ast.AST) -> set[str]:
    """The names of the exceptions that are caught."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}


def is_sentence(node: ast.expr, errors: set[str]) -> bool:
    """Whether an expression is the text of an exception, or of an attribute that a person reads."""
    match node:
        case ast.Call(func=ast.Name("str"), args=[ast.Name(name)]):
            return name in errors
        case ast.Subscript(value=ast.Attribute(value=ast.Name(name), attr="args")):
            return name in errors
        case ast.Call(func=ast.Attribute(value=inner, attr="lower" | "strip" | "replace" | "split" | "casefold")):
            return is_sentence(inner, errors)
        case ast.Subscript(value=inner):
            return is_sentence(inner, errors)
        case ast.Attribute(attr=name):
            return name in SENTENCES
    return False


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a text that somebody wrote, also one with values in it; an empty one says nothing."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and bool(node.value)
    )


def read_sentences(source: str) -> list[str]:
    """The expressions of a module that decide by a sentence, or cut one up."""
    tree = ast.parse(source)
    errors, found = caught(tree), []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[first, *_]):
                reads = name in READING and is_sentence(value, errors) and is_text(first)
                searches = name in SEARCHING and any(is_sentence(arg, errors) for arg in node.args)
                if reads or searches:
                    found.append(ast.unparse(node))
            case ast.Compare():
                sides = [node.left, *node.comparators]
                if any(is_sentence(side, errors) for side in sides) and any(map(is_text, sides)):
                    found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_no_module_reads_a_sentence(path):
    assert not read_sentences(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_finds_a_control_by_its_words(path):
    assert not [line.strip()[:120] for line in path.read_text(encoding="utf-8").splitlines() if IN_SCRIPTS.search(line)]


@pytest.mark.parametrize(
    "line",
    [
        "str(e).startswith('LM needs ')",
        "'needs' in str(e)",
        "e.args[0] == 'gone'",
        "str(e).replace('This', name).split('; set ')",
        "stage.trouble.startswith(f'{name} needs ')",
        "re.search('needs', str(e))",
        "self.button.label == 'Resume'",
        "run.notice.partition(': ')",
    ],
)
def test_what_reads_a_sentence_is_found(line):
    assert read_sentences(f"try:\n    pass\nexcept ValueError as e:\n    {line}\n")


@pytest.mark.parametrize("line", ["print(str(e))", "stage.trouble == ''", "isinstance(e, KeyError)", "str(e).split()"])
def test_what_only_shows_a_sentence_is_not(line):
    assert not read_sentences(f"try:\n    pass\nexcept ValueError as e:\n    {line}\n")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("root.querySelector('[aria-label=\"Keys\"]')", True),
        ('.stage button[aria-label="Keys"] { display: none; }', True),
        ("buttons.find((each) => each.textContent === 'Train')", True),
        ("names.includes(each.textContent)", True),
        ('node("button", { "aria-label": "Keys" })', False),
        ("bar.matches(':not([aria-label])')", False),
        ("said.textContent = words", False),
        ("if (said.textContent !== words) said.textContent = words", False),
    ],
)
def test_what_finds_a_control_by_its_words_is_found(line, found):
    assert bool(IN_SCRIPTS.search(line)) == found
