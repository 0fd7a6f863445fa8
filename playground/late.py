"""Values whose fields are found when they are first read: no model reads most of what a batch knows about itself."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def partly(kind: type[T], known: Mapping[str, Any], late: tuple[str, ...], find: Callable[[str], Any]) -> T:
    """A frozen value of a kind with its `known` fields; `find` gives each of the `late` ones when it is first read."""
    value = object.__new__(_kind(kind, late))
    value.__dict__.update(known)
    value.__dict__["_find"] = find
    return value


@cache
def _kind(kind: type, late: tuple[str, ...]) -> type:
    """The same kind of value, whose late fields are found; a copy of it that is sent elsewhere has found them all."""
    return type(kind.__name__, (kind,), {"__reduce__": _found, **{name: _Late(name) for name in late}})


class _Late:
    """A field that is found when it is first read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, kind: type) -> Any:
        found = value.__dict__[self.name] = value._find(self.name)
        return found


def _found(value: Any) -> tuple[Any, ...]:
    return type(value).__bases__[0], tuple(getattr(value, f.name) for f in fields(value))
