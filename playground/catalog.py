"""The catalogue: module-level constants of a type, found in the modules of a package; nothing is registered."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from heapq import nlargest
from typing import Protocol, TypeVar

from playground.errors import UserError
from playground.nearest import NEAREST, POST_TRAINING, Nearest


class Named(Protocol):
    """What the catalogue holds: anything with a name."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)

LONGEST = 60
"""Letters and words of a name that is looked for among the nearest; longer ones would take seconds."""

LONG, ALIKE = 6, 0.93
"""Letters from which on a name may be misspelt, and how much of it must be right."""

STEM = 5
"""Letters of a word that are looked for in an idea, so that "entities" is found in "entity"."""


@cache
def find(package: str, kind: type[T]) -> dict[str, T]:
    """Every constant of a kind in a package's modules by its `name`, in its own `order` if it has one, then by name.

    A constant may be a tuple of several; modules may stand in sub-packages. A kind with a method `in_module` is given
    the name of the module that holds it. Two of one name are refused.
    """
    home = importlib.import_module(package)
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(home.__path__, f"{package}.")]
    constants = [(m.__name__, v) for m in modules for k, v in vars(m).items() if k.isupper()]
    each = [(m, one) for m, v in constants for one in (v if isinstance(v, tuple) else (v,)) if isinstance(one, kind)]
    placed: Callable[[T, str], T] = getattr(kind, "in_module", lambda constant, _: constant)
    unique = {id(v): placed(v, m) for m, v in each}.values()
    found = {v.name: v for v in sorted(unique, key=lambda item: (*getattr(item, "order", ()), item.name.lower()))}
    if twice := {v.name for v in unique if found[v.name] is not v}:
        raise ValueError(f"two constants of {package} have the name {', '.join(sorted(twice))}; give each its own")
    return found


def year(source: str) -> int:
    """The first year that a source names, by itself or as an arXiv number ("arXiv:1810.04805" is 2018); else 9999."""
    found = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", source)
    return int(f"20{found[1]}" if found and found[1] else found[2]) if found else 9999


def choose(package: str, kind: type[T], name: str, what: str = "") -> T:
    """One constant by its name or an alias, whatever the case; else a refusal that says what there is.

    The refusal says what is nearest by meaning or by spelling; it calls a constant `what`, or as its type is called.
    """
    folded, spelt = fold(name), _spelt(package, kind)
    if folded in spelt:
        return spelt[folded]
    if meant := nearest(name) or in_post_training(name):
        raise UserError(meant)
    near = ", ".join(three_nearest(name, find(package, kind).values()))
    raise UserError(f"There is no {what or kind.__name__.lower()} named {name!r}; the nearest: {near}.")


def three_nearest(name: str, known: Iterable[Named]) -> list[str]:
    """The names of the three that a misspelt or unknown name is nearest to, the nearest first.

    Letters in common with a name or an alias count, and half the share of its words that begin as one of the idea does.
    """
    folded, words = fold(name)[:LONGEST], _words(name)[:LONGEST]

    def likeness(item: Named) -> float:
        names = (item.name, *getattr(item, "aliases", ()))
        letters = max(SequenceMatcher(None, fold(said), folded).ratio() for said in names)
        idea = _words(" ".join((*names, getattr(item, "idea", ""))))
        meant = sum(any(word.startswith(sought[:STEM]) for word in idea) for sought in words) / max(1, len(words))
        return letters + meant / 2

    unique = {item.name: item for item in known}.values()
    return [item.name for item in nlargest(3, unique, key=likeness)]


def nearest(name: str) -> str:
    """What is nearest by meaning to a name of the field that is not here, in a sentence; empty where none is known."""
    if (meant := nearest_by_meaning(name)) is None:
        return ""
    said, near = meant
    return f"{said!r} is not here; nearest is the {near.kind} {near.name!r}, because {near.because}."


def in_post_training(name: str) -> str:
    """Where a method of post-training is that was looked for in another list; empty for any other name."""
    if fold(name) not in map(fold, POST_TRAINING):
        return ""
    return f"{name!r} is a method of post-training; open the Post-training page, or type playground posttrain."


def nearest_by_meaning(name: str) -> tuple[str, Nearest] | None:
    """A name of the field that is not here, and what is nearest to it; one wrong letter in a long name is forgiven."""
    plain, known = fold(name), _nearest()
    if plain in known:
        return name, known[plain][1]
    close = get_close_matches(plain, known, 1, cutoff=ALIKE) if LONG <= len(plain) <= LONGEST else ()
    return known[close[0]] if close else None


@cache
def _nearest() -> dict[str, tuple[str, Nearest]]:
    """Each name of the field that is not here, as it is written and with what is nearest."""
    return {fold(name): (name, near) for near in NEAREST for name in near.to}


@cache
def _spelt(package: str, kind: type[T]) -> dict[str, T]:
    """Every constant of a kind by each of its spellings; to spell all objectives anew takes two milliseconds."""
    every = find(package, kind).values()
    return {fold(said): item for item in every for said in (item.name, *getattr(item, "aliases", ()))}


def fold(name: str) -> str:
    """A name in the spelling that names are compared in: its letters and digits, in lower case; LoRA+ is loraplus."""
    return "".join(c for c in re.sub(r"\+\s*$", "plus", name.lower()) if c.isalnum())


def _words(text: str) -> list[str]:
    return re.findall(r"\w{2,}", text.lower())
