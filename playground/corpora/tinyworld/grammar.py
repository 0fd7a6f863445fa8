"""A probabilistic grammar: rules written as text become tables, from which documents are generated."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import log


@dataclass(frozen=True)
class Form:
    """A word in a role: part of speech, number, sense and tense, its number of attractors, and the entity it names.

    A bracket is a form too, one without a part of speech that is never written: "NP[" and "]" around a phrase,
    "key:yes{" and "key}" around words with this label.
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
    """The expansions of one symbol: cumulative probabilities, costs in nats, and parts in reverse order."""

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
        return _write(list(self.rules), [start], random, out)


def _write(table: list[Rule], stack: list[int], random: Callable[[], float], out: list[int]) -> float:
    nats = 0.0
    while stack:
        symbol = stack.pop()
        if symbol >= 0:
            out.append(symbol)
            continue
        rule = table[symbol]
        if rule.remember:
            chosen: list[int] = []
            nats += _write(table, list(rule.parts[0]), random, chosen)
            table[rule.remember] = Rule((), (0.0,), (tuple(reversed(chosen)),))
        elif len(rule.parts) == 1:
            stack += rule.parts[0]
        else:
            way = bisect_right(rule.limits, random())
            nats += rule.costs[way]
            stack += rule.parts[way]
    return nats


def read_rules(text: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> dict[str, list[Way]]:
    """Rules written as text, one for every value of the features on their left side."""
    ways: dict[str, list[Way]] = {}
    spaced = re.sub(r"([\[{])", r"\1 ", re.sub(r"([\]}])", r" \1", text))
    for line in filter(None, re.sub(r"\n[ \t]+", " ", spaced).split("\n")):
        left, right = line.split(" = ", 1) if " = " in line else (line.removesuffix(" ="), "")
        for values in _values(left, features, other):
            expansions = _fill(right, values).split("|")
            ways[_fill(left, values)] = [way for one in expansions for way in _ways(one, features, other)]
    return ways


def _values(text: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> Iterable[dict[str, str]]:
    """Every combination of values of the features in a part of a rule."""
    used = [feature for feature in features if f"<{feature}>" in text]
    for combination in product(*(features[feature] for feature in used)):
        values = dict(zip(used, combination, strict=True))
        yield values | {_OPPOSITE[f]: other[v] for f, v in values.items() if f in _OPPOSITE}


_OPPOSITE = {"n": "m", "p": "q"}
"""Features that have an opposite, and its name."""


def _fill(text: str, values: Mapping[str, str]) -> str:
    for feature, value in values.items():
        text = text.replace(f"<{feature}>", value)
    return text


def _ways(text: str, features: Mapping[str, Sequence[str]], other: Mapping[str, str]) -> Iterable[Way]:
    """One expansion as written, "3: the Noun", once for every value of the features that are still open."""
    weighted = re.match(r"\s*([\d.]+):", text)
    weight, body = (float(weighted[1]), text[weighted.end() :]) if weighted else (1.0, text)
    for values in _values(body, features, other):
        yield weight, _parts(_fill(body, values).split())


def _parts(symbols: list[str]) -> tuple[Part, ...]:
    """The parts of one expansion; `Name := What` becomes one part, and "}" gets the name of the label it closes."""
    parts: list[Part] = []
    labels: list[str] = []
    while symbols:
        symbol, *symbols = symbols
        if symbols[:1] == [":="]:
            parts.append(Remember(symbol, (symbols[1],)))
            symbols = symbols[2:]
        elif symbol == "}":
            parts.append(labels.pop() + "}")
        else:
            if symbol[-1] == "{":
                labels.append(symbol.partition(":")[0])
            parts.append(symbol)
    return tuple(parts)


def build(ways: Ways, start: str, closed: Callable[[str], Form]) -> Grammar:
    """The grammar of everything that `start` can lead to; `closed` gives the forms of words that stand in the rules."""
    builder = _Builder(ways, closed)
    builder.symbol(start)
    rules = tuple(builder.rules.get(number, _EMPTY) for number in range(-len(builder.rules), 0))
    return Grammar(builder.names, rules, tuple(builder.forms))


_EMPTY = Rule((), (), ())


class _Builder:
    """Numbers rules and forms in the order in which they occur."""

    def __init__(self, ways: Ways, closed: Callable[[str], Form]):
        self.ways, self.closed = ways, closed
        self.names: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.rules: dict[int, Rule] = {}
        self.forms: dict[Form, int] = {}

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
            return self.rule(part, _EMPTY)
        if part[-1] in "[]{}":
            return self.words.setdefault(part, self.symbol(Form(part)))
        if part[0].isupper():
            return self.ways_of(part)
        return self.words.setdefault(part, self.symbol(self.closed(part)))

    def ways_of(self, name: str) -> int:
        """The number of a rule, which it gets before its parts are numbered."""
        number = self.rule(name, _EMPTY)
        weights = [weight for weight, _ in self.ways[name]]
        total = sum(weights)
        probabilities = [weight / total for weight in weights]
        limits = tuple(accumulate(probabilities))[:-1]
        costs = tuple(-log(probability) for probability in probabilities)
        self.rules[number] = Rule(limits, costs, tuple(self.parts(way) for _, way in self.ways[name]))
        return number

    def rule(self, name: str, rule: Rule) -> int:
        number = self.names.setdefault(name, -len(self.names) - 1)
        self.rules[number] = rule
        return number

    def parts(self, parts: Sequence[Part]) -> tuple[int, ...]:
        """The numbers of parts in reverse order, ready for a stack."""
        return tuple(reversed([self.symbol(part) for part in parts]))
