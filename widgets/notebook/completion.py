"""Tab in a call of a notebook function: names of the catalogues inside quotes, and knobs as keywords."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import Parameter, isfunction, signature
from itertools import chain
from types import ModuleType
from typing import Any, get_args

from playground.analysis.inspection import OVER
from playground.analysis.instrument import instrument_named, instruments
from playground.claims.claim import claim_named, claims
from playground.compression import methods
from playground.corpora.sources import sources
from playground.devices import available
from playground.errors import UserError
from playground.finetuning import strategies, tasks
from playground.finetuning.comparing.budget_matching import MATCHES, RATES
from playground.finetuning.data.input_format import INPUT_FORMATS
from playground.knob import knobs
from playground.objectives import find_objective, objectives
from playground.posttraining import methods as post_training_methods
from playground.posttraining import rewards
from playground.zoo import entries, entry_named
from playground.zoo.preset import RECIPE_PRESETS

NAMES: Mapping[str, Callable[[], Iterable[str]]] = {
    "objective": objectives, "entry": lambda: [*entries(), *objectives()], "corpus": sources, "task": tasks,
    "strategies": strategies, "pipelines": methods, "instrument": instruments, "model": entries, "others": entries,
    "recipe": lambda: RECIPE_PRESETS, "device": lambda: ("auto", *available()), "match": lambda: MATCHES,
    "over": lambda: OVER,
    "methods": post_training_methods, "reward": rewards,
    "claim": claims, "lr_policy": lambda: RATES, "input_format": lambda: INPUT_FORMATS,
}  # fmt: skip
"""The names that a parameter takes as a text."""

KNOBS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "objective": lambda name: find_objective(name).knobs,
    "entry": lambda name: chain.from_iterable(entry_named(name).knobs.values()),
    "claim": lambda name: [*claim_named(name).knobs],
    "instrument": lambda name: [k.name for k in knobs(instrument_named(name).settings)],
}  # fmt: skip
"""The knobs that become keywords, by the parameter that names what has them."""

TOKEN = re.compile(
    r"""\#[^\n]* | (?P<triple>\"{3}|'{3}).*?(?:(?P=triple)|\Z)
    | (?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote))[^\n])*)(?P<end>(?P=quote)|\n|\Z)
    | (?P<name>[\w.]+) | (?P<mark>[=!<>]=|[()\[\]{}=,])""", re.DOTALL | re.VERBOSE,
)  # fmt: skip


@dataclass
class Bracket:
    """An open bracket: what is called before it, the argument that is typed, texts that stand as arguments before."""

    mark: str
    called: str
    position: int = 0
    keyword: str = ""
    texts: dict[int | str, str] = field(default_factory=dict)


def completions(code: str, namespace: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What is typed at the end of the code, and what can stand there; nothing outside a notebook function."""
    calls, before, tokens = [Bracket("", "")], "", [*TOKEN.finditer(code)]
    for token in tokens:
        call, mark = calls[-1], token["mark"] or "-"
        if token["quote"] and not token["end"]:
            return _names(token["text"].rpartition(",")[2].lstrip(), calls, namespace)
        if token["quote"]:
            call.texts[call.keyword or call.position] = token["text"]
        elif mark in "([{":
            calls.append(Bracket(mark, before))
        elif mark in ")]}" and len(calls) > 1:
            calls.pop()
        elif mark == "=":
            call.keyword = before
        elif mark == ",":
            call.position, call.keyword = call.position + (not call.keyword), ""
        before = token["name"] or ""
    typed = before if code.endswith(before) else ""
    marks = [token["mark"] for token in tokens if token.end() <= len(code) - len(typed)]
    return _keywords(typed, calls[-1], namespace) if marks and marks[-1] in ("(", ",") else ("", [])


def _names(typed: str, calls: list[Bracket], namespace: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The names for a text that is begun, also in a list."""
    call = next(each for each in reversed(calls) if each.called or each.mark in ("", "{"))
    parameters = _parameters(call.called, namespace)
    name = call.keyword or "".join([*parameters][call.position : call.position + 1])
    form = parameters[name].annotation if name in parameters else None
    known = NAMES[name]() if name in NAMES and str in (form, *get_args(form)) else ()
    return typed, [each for each in known if each.lower().startswith(typed.lower())]


def _keywords(typed: str, call: Bracket, namespace: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The knobs, as keywords, of what the call names or takes by default."""
    parameters = _parameters(call.called, namespace) if call.mark == "(" else {}
    known: Iterable[str] = ()
    for position, name in enumerate(parameters):
        with suppress(UserError):  # what is named is not known
            if name in KNOBS:
                known = KNOBS[name](call.texts.get(name, call.texts.get(position, parameters[name].default)))
    return typed, [f"{k}=" for k in known if k.startswith(typed) and k.isidentifier() and k not in parameters]


def _parameters(called: str, namespace: Mapping[str, Any]) -> Mapping[str, Parameter]:
    """The parameters of a notebook function by the name under which it is called; none of anything else."""
    first, *rest = called.split(".")
    found = namespace.get(first)
    for name in rest:
        found = getattr(found, name, None) if isinstance(found, ModuleType) else None
    ours = isfunction(found) and found.__module__.startswith("widgets.notebook")
    return signature(found).parameters if ours else {}
