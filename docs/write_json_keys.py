"""Write the section on JSON keys of docs/cli.md with `python docs/write_json_keys.py`."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from playground.cli import COMMANDS
from playground.knob import knobs

FILE = Path(__file__).with_name("cli.md")
HEAD, END = "## JSON keys that scripts may rely on\n\n", "Keys of a plan: "
INTRODUCTION = """More may be added. `a.b` is the key `b` of the object `a`, `a[].b` that of each object of the
list `a`, and `a.*.b` that of each value of the object `a`. An optional key is left out where it has nothing to say.
"""
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Any: "any value"}


def section() -> str:
    """The section: a table of keys for each form of each command that declares its JSON."""
    declared = {name: getattr(import_module(f"playground.cli.{name}"), "FACTS", ()) for name in COMMANDS}
    names = {kind: name for name, kinds in declared.items() for kind in kinds}
    parts = (
        f"### {name}\n\n{''.join(table(kind, names) for kind in kinds)}" for name, kinds in declared.items() if kinds
    )
    return f"{HEAD}{INTRODUCTION}\n{''.join(parts)}"


def table(kind: Any, names: dict[Any, str]) -> str:
    """A sentence that says what an object is, and a row for each of its keys."""
    head = "| key | type | meaning |\n|---|---|---|\n"
    return f"{described(kind)}\n\n{head}{''.join(rows(kind, names))}\n"


def rows(kind: Any, names: dict[Any, str], above: str = "") -> Iterator[str]:
    """A row for each key, the name first, and then those of an object inside that has neither a table nor knobs."""
    hints = get_type_hints(kind, include_extras=True)
    for key, text in sorted(meanings_of(kind).items(), key=lambda each: each[0] != "name"):
        hint, inside = hints[key], object_in(hints[key])
        optional = ", optional" if get_origin(hint) is NotRequired else ""
        meaning = text or (described(inside[0]) if inside else "")
        as_in = f" As in `{names[inside[0]]}`." if inside and inside[0] in names else ""
        yield f"| `{above}{key}` | {spelt(hint)}{optional} | {f'{meaning}{as_in}'.strip()} |\n"
        if inside and inside[0] not in names and not (is_dataclass(inside[0]) and knobs(inside[0])):
            yield from rows(inside[0], names, f"{above}{key}{inside[1]}.")


def described(kind: Any) -> str:
    """The first paragraph of a docstring in one line; braces of arguments are none of Markdown's."""
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()).replace("|", r"\|")


def meanings_of(kind: Any) -> dict[str, str]:
    """The keys of a declaration and the strings below them, its own before those of its bases."""
    try:
        body = ast.parse(dedent(inspect.getsource(kind))).body[0]
    except OSError:  # a TypedDict that is called, since a key of it is a keyword of Python
        return dict.fromkeys(kind.__annotations__, "")
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in pairwise([*body.body, ast.Pass()]):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                found[name] = " ".join(meaning.split()).replace("|", r"\|")
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                found[name] = ""
    module = sys.modules[kind.__module__]  # a TypedDict of Python 3.11 does not know its bases
    bases = (getattr(module, base.id, None) for base in body.bases if isinstance(base, ast.Name))
    found |= {k: text for base in bases if is_object(base) for k, text in meanings_of(base).items() if k not in found}
    return found | ({knob.name: knob.why for knob in knobs(kind) if knob.why} if is_dataclass(kind) else {})


def is_object(hint: Any) -> bool:
    """Whether a type is declared key by key."""
    return is_typeddict(hint) or is_dataclass(hint)


def object_in(hint: Any) -> tuple[Any, str] | None:
    """The object inside a type, and how its path goes on."""
    if is_object(hint):
        return hint, ""
    step = {list: "[]", tuple: "[]", dict: ".*"}.get(get_origin(hint), "")
    found = (object_in(part) for part in get_args(hint) if get_origin(hint) is not Literal)
    return next(((kind, step + path) for kind, path in filter(None, found)), None)


def spelt(hint: Any) -> str:
    """A type as JSON has it."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return spelt(parts[0])
    if origin is Literal:
        return " or ".join(f'`"{part}"`' for part in parts)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(spelt, parts)))
    if origin is dict:
        return "object" if parts[1] is Any or object_in(hint) else f"object of {several(parts[1])}"
    if origin in (list, tuple):
        return f"list of {several(parts[0]) if origin is list or parts[1:] == (...,) else ', '.join(map(spelt, parts))}"
    return PLAIN.get(hint, "object")


def several(hint: Any) -> str:
    """A type in the plural."""
    return " or ".join(re.sub(r"^(\w+)", r"\1s", one) for one in spelt(hint).split(" or "))


def page() -> str:
    """The whole page, with the section as it is declared."""
    text = FILE.read_text(encoding="utf-8")
    return text[: text.index(HEAD)] + section() + text[text.index(END) :]


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
