"""Values whose fields are found when they are first read: no model reads most of what a batch knows about itself."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, partial
from typing import Any, TypeVar

T = TypeVar("T")


class Later(partial[Any]):
    """What a function will say of what it is given, found when it is first read."""


def partly(kind: type[T], known: Mapping[str, Any], find: Callable[[str], Any]) -> T:
    """A frozen value of a kind with its `known` fields; `find` gives each of the others when it is first read."""
    value = object.__new__(_kind(kind))
    value.__dict__.update(known)
    value.__dict__["_find"] = find
    return value


def several(kind: type[T], known: Mapping[str, Any], find: Callable[[str, int], Any] | None, number: int) -> list[T]:
    """So many frozen values of a kind, alike in what is `known`; `find` is told which one it is asked for.

    Without `find` there is nothing to be found, and what is not known must be put into each of them.
    """
    own = _kind(kind) if find else kind
    made = [object.__new__(own) for _ in range(number)]
    shared = {**known, "_find_in": find} if find else known
    for place, value in enumerate(made):
        held = value.__dict__
        held.update(shared)
        held["_part"] = place
    return made


def made(kind: type[T], **given: Any) -> T:
    """A frozen value of a kind, as by calling it; fields that are given as `Later` are found when they are read."""
    return _with(kind, {**_defaults(kind), **given}, None)


def replace(value: T, **changes: Any) -> T:
    """The value with some fields changed, as in `dataclasses`; what is found later is not found because of that."""
    known = value.__dict__
    held = {name: known[name] for name in names(type(value)) if name in known}
    return _with(plain(type(value)), held | changes, value)


def _with(kind: type[T], given: dict[str, Any], before: Any) -> T:
    later = {name: given.pop(name) for name in [n for n, v in given.items() if isinstance(v, Later)]}
    return partly(kind, given, lambda name: later[name]() if name in later else getattr(before, name))


@cache
def names(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a kind of value."""
    return tuple(f.name for f in fields(kind))


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {f.name: f.default for f in fields(kind) if f.default is not MISSING}


@cache
def _kind(kind: type) -> type:
    """The same kind of value, whose fields are found; a copy of it that is sent elsewhere has found them all."""
    late = {name: _Late(name) for name in names(kind)}
    return type(kind.__name__, (kind,), {"plain": kind, "__reduce__": _found, **late})


def plain(kind: Any) -> Any:
    """The kind of value as it was written, without fields that are found late."""
    return getattr(kind, "plain", kind)


class _Late:
    """A field that is found when it is first read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, kind: type) -> Any:
        held = value.__dict__
        one = "_find" in held
        found = held[self.name] = held["_find"](self.name) if one else held["_find_in"](self.name, held["_part"])
        return found


def _found(value: Any) -> tuple[Any, ...]:
    return plain(type(value)), tuple(getattr(value, name) for name in names(type(value)))
