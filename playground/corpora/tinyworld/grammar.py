"""A grammar with chances: rules written as text become tables, and the tables write documents."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import log


@dataclass(frozen=True)
class Form:
    """A word in a role: what it is, its number, meaning and tense, how many attractors it must ignore, what it names.

    A bracket is a form too, one without a part of speech that is never written: "NP[" and "]" around a phrase,
    "key:yes{" and "key}" around what has this label.
    """

    word: str
    pos: str = ""
    number: str = ""
    sense: str = ""
    attractors: str = ""
    entity: str = ""
    begins: bool = False
    tense: str = ""


@dataclass(frozen=True)
class Remember:
    """A choice that is made once in a document and repeated by `$name`."""

    name: str
    what: tuple


Part = str | Form | Remember
Way = tuple[float, tuple[Part, ...]]
Ways = Mapping[str, Sequence[Way]]


@dataclass(frozen=True)
class Rule:
    """The ways to write one thing: running sums of their chances, their costs in nats, their parts last first."""

    limits: tuple[float, ...]
    costs: tuple[float, ...]
    parts: tuple[tuple[int, ...], ...]
    remember: int = 0


@dataclass(frozen=True)
class Grammar:
    """Rules by number (-1, -2, ...) and word forms by number (0, 1, ...)."""

    names: Mapping[str, int]
    rules: tuple[Rule, ...]
    forms: tuple[Form, ...]

    def write(self, start: int, random: Callable[[], float], out: list[int]) -> float:
        """Append one document, as numbers of forms, and return the nats of all choices: the sum of -log p."""
        table = list(self.rules)
        return _write(table, [start], random, out)


def _write(table: list[Rule], todo: list[int], random: Callable[[], float], out: list[int]) -> float:
    nats = 0.0
    while todo:
        symbol = todo.pop()
        if symbol >= 0:
            out.append(symbol)
            continue
        rule = table[symbol]
        if rule.remember:
            nats += _bind(table, rule, random)
        elif len(rule.parts) == 1:
            todo += rule.parts[0]
        else:
            way = bisect_right(rule.limits, random())
            nats += rule.costs[way]
            todo += rule.parts[way]
    return nats


def _bind(table: list[Rule], rule: Rule, random: Callable[[], float]) -> float:
    """Make a choice now and let its name stand for it from here on."""
    chosen: list[int] = []
    nats = _write(table, list(rule.parts[0]), random, chosen)
    table[rule.remember] = Rule((), (0.0,), (tuple(reversed(chosen)),))
    return nats


def read_rules(text: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> dict[str, list[Way]]:
    """Rules written as text, one for every value of the features on their left side."""
    ways: dict[str, list[Way]] = {}
    apart = re.sub(r"([\[{])", r"\1 ", re.sub(r"([\]}])", r" \1", text))
    for line in filter(None, re.sub(r"\n[ \t]+", " ", apart).split("\n")):
        left, right = line.split(" = ", 1) if " = " in line else (line.removesuffix(" ="), "")
        for settings in _settings(left, features, other):
            name = _set(left, settings)
            alternatives = _set(right, settings).split("|")
            ways[name] = [way for written in alternatives for way in _ways(written, features, other)]
    return ways


def _settings(text: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> Iterable[dict[str, str]]:
    """Every way to give values to the features that a piece of a rule names."""
    used = [f for f in features if f"<{f}>" in text]
    for values in product(*(features[f] for f in used)):
        settings = dict(zip(used, values, strict=True))
        yield settings | {_TWIN[f]: other[v] for f, v in settings.items() if f in _TWIN}


_TWIN = {"n": "m", "p": "q"}
"""Features that have an opposite."""


def _set(text: str, settings: Mapping[str, str]) -> str:
    for feature, value in settings.items():
        text = text.replace(f"<{feature}>", value)
    return text


def _ways(written: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> Iterable[Way]:
    """One way as written, "3: the Noun", once for every value of the features that are still open."""
    weighted = re.match(r"\s*([\d.]+):", written)
    weight, body = (float(weighted[1]), written[weighted.end() :]) if weighted else (1.0, written)
    for settings in _settings(body, features, other):
        yield weight, _parts(_set(body, settings).split())


def _parts(symbols: list[str]) -> tuple[Part, ...]:
    """The parts of one way; `Name := What` becomes one part, and "}" says what it closes."""
    parts: list[Part] = []
    opened: list[str] = []
    while symbols:
        if symbols[1:2] == [":="]:
            parts.append(Remember(symbols[0], (symbols[2],)))
            symbols = symbols[3:]
        elif symbols[0] == "}":
            parts.append(opened.pop() + "}")
            symbols = symbols[1:]
        else:
            if symbols[0][-1] == "{":
                opened.append(symbols[0].partition(":")[0])
            parts.append(symbols[0])
            symbols = symbols[1:]
    return tuple(parts)


def build(ways: Ways, start: str, closed: Callable[[str], Form]) -> Grammar:
    """The grammar of everything that `start` can lead to; `closed` knows the words that stand in the rules."""
    return _Builder(ways, closed).build(start)


class _Builder:
    """Gives numbers to rules and forms in the order in which they are met."""

    def __init__(self, ways: Ways, closed: Callable[[str], Form]):
        self.ways, self.closed = ways, closed
        self.names: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.rules: dict[int, Rule] = {}
        self.forms: dict[Form, int] = {}

    def build(self, start: str) -> Grammar:
        self.symbol(start)
        rules = tuple(self.rules.get(number, Rule((), (), ())) for number in range(-len(self.rules), 0))
        return Grammar(self.names, rules, tuple(self.forms))

    def symbol(self, part: Part) -> int:
        if isinstance(part, Remember):
            return self.rule(f"{part}", Rule((), (0.0,), (self.parts(part.what),), self.symbol("$" + part.name)))
        if isinstance(part, Form):
            return self.forms.setdefault(part, len(self.forms))
        if part in self.names:
            return self.names[part]
        if part in self.words:
            return self.words[part]
        if part[0] == "$":
            return self.rule(part, Rule((), (), ()))
        if part[-1] in "[]{}":
            return self.words.setdefault(part, self.symbol(Form(part)))
        if not part[0].isupper():
            return self.words.setdefault(part, self.symbol(self.closed(part)))
        return self.known(part)

    def known(self, name: str) -> int:
        """The number of a rule, which it has before its parts are looked at."""
        number = self.rule(name, Rule((), (), ()))
        weights = [weight for weight, _ in self.ways[name]]
        total = sum(weights)
        chances = [weight / total for weight in weights]
        limits = tuple(accumulate(chances))[:-1]
        costs = tuple(-log(chance) for chance in chances)
        self.rules[number] = Rule(limits, costs, tuple(self.parts(way) for _, way in self.ways[name]))
        return number

    def rule(self, name: str, rule: Rule) -> int:
        number = self.names.setdefault(name, -len(self.names) - 1)
        self.rules[number] = rule
        return number

    def parts(self, parts: Sequence[Part]) -> tuple[int, ...]:
        """The numbers of parts, last first, as a stack wants them."""
        return tuple(reversed([self.symbol(part) for part in parts]))
