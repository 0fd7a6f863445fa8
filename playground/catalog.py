"""The catalogue: module-level constants of a type, found in the modules of a package; nothing is registered."""

import importlib
import pkgutil
import re
from difflib import get_close_matches
from functools import cache
from typing import Protocol, TypeVar

from playground.errors import UserError


class Named(Protocol):
    """What the catalogue holds: anything with a name."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


@cache
def find(package: str, kind: type[T]) -> dict[str, T]:
    """Every constant of a kind in a package's modules by its `name`, in its own `order` if it has one, then by name.

    A constant may be a tuple of several.
    """
    home = importlib.import_module(package)
    modules = [importlib.import_module(f"{package}.{m.name}") for m in pkgutil.iter_modules(home.__path__)]
    constants = [v for m in modules for k, v in vars(m).items() if k.isupper()]
    each = [one for v in constants for one in (v if isinstance(v, tuple) else (v,)) if isinstance(one, kind)]
    unique = {id(v): v for v in each}.values()
    return {v.name: v for v in sorted(unique, key=lambda item: (*getattr(item, "order", ()), item.name.lower()))}


def year(source: str) -> int:
    """The first year that a source names, by itself or as an arXiv number ("arXiv:1810.04805" is 2018); else 9999."""
    found = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", source)
    return int(f"20{found[1]}" if found and found[1] else found[2]) if found else 9999


def choose(package: str, kind: type[T], name: str, what: str = "") -> T:
    """One constant by its name or an alias, whatever the case; else a refusal that says what there is.

    The refusal calls a constant `what`, or else as its type is called.
    """
    wanted, spelt = _plain(name), _spelt(package, kind)
    if wanted in spelt:
        return spelt[wanted]
    near = {spelt[close].name: None for close in get_close_matches(wanted, spelt, cutoff=0.7)}
    right = f"the nearest: {', '.join(near)}" if near else f"choose one of: {', '.join(find(package, kind))}"
    raise UserError(f"There is no {what or kind.__name__.lower()} named {name!r}; {right}.")


@cache
def _spelt(package: str, kind: type[T]) -> dict[str, T]:
    """Every constant of a kind by each of its spellings; to spell all objectives anew takes two milliseconds."""
    every = find(package, kind).values()
    return {_plain(said): item for item in every for said in (item.name, *getattr(item, "aliases", ()))}


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
