"""Arguments of the notebook functions: each has the type that the signature says, or is refused in a sentence."""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from numbers import Real
from types import UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

from playground.errors import UserError
from playground.parsing import LARGEST

P = ParamSpec("P")
R = TypeVar("R")

WORDS = {
    "int": ("a whole number", "whole numbers"), "float": ("a number", "numbers"),
    "str": ("a text", "texts"), "bool": ("True or False", "True or False"),
    "Callable": ("a callable", "callables"), "NoneType": ("None", "None"),
    "Trained": ("what train(...) returned", "what train(...) returned"),
}  # fmt: skip
"""What types are called in a refusal, one and several; any other has its own name."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which refuses an argument that is not of the annotated type before it does anything."""
    parameters = signature(function)

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            bound = parameters.bind(*given, **named)
        except TypeError as error:
            names = ", ".join(name for name in parameters.parameters if name != "self")
            raise UserError(f"{function.__name__}: {error}. Its arguments are: {names}.") from None
        for name, value in bound.arguments.items():
            form = parameters.parameters[name].annotation
            try:
                bound.arguments[name] = read(value, Any if form is Parameter.empty else form)
            except TypeError:
                large = f" of at most {len(str(LARGEST))} digits" if type(value) is int and abs(value) > LARGEST else ""
                raise UserError(f"{name} is {value!r}; it must be {in_words(form)}{large}.") from None
        return function(*bound.args, **bound.kwargs)

    return call


def read(value: Any, form: Any) -> Any:
    """A value in the type that an annotation names; what behaves as an integer is one, yes and no are not."""
    kind, parts = get_origin(form) or form, get_args(form)
    if kind is UnionType:
        for each in parts:
            try:
                return read(value, each)
            except TypeError:
                continue
        raise TypeError
    if kind in (int, float):
        return _number(value, kind)
    if kind is Any:
        return value
    if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str | bytes)):
        raise TypeError
    if kind is Sequence:
        return tuple(read(each, parts[0]) for each in value)
    if kind is Mapping:
        return {read(key, parts[0]): read(each, parts[1]) for key, each in value.items()}
    return value


def _number(value: Any, kind: type) -> int | float:
    """A whole number, or for `float` any real one."""
    if isinstance(value, bool) or (kind is float and not isinstance(value, Real)):
        raise TypeError
    number = float(value) if kind is float else operator.index(value)
    if kind is int and abs(number) > LARGEST:
        raise TypeError
    return number


def in_words(form: Any, several: bool = False) -> str:
    """What an annotation asks for, as in "a text or a list of whole numbers"."""
    kind, parts = get_origin(form) or form, get_args(form)
    if kind is UnionType:
        *others, last = (in_words(each, several) for each in parts)
        return f"{', '.join(others)} or {last}"
    if kind is Sequence:
        return f"{'lists' if several else 'a list'} of {in_words(parts[0], several=True)}"
    if kind is Mapping:
        keys = in_words(parts[1], several=True) if get_args(parts[1]) else f"{in_words(parts[0], several=True)} as keys"
        return f"{'dicts' if several else 'a dict'} {'of' if get_args(parts[1]) else 'with'} {keys}"
    name = kind.__name__
    one = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    return WORDS.get(name, (one, f"{name} objects"))[several]
