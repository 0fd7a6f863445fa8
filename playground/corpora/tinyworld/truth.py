"""The exact chances of texts: what a perfect model would say, where the grammar is small enough to write them all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Grammar
from playground.corpora.tinyworld.world import grammar
from playground.errors import Refusal

MOST = 250_000
"""Texts that are written out; a rule with more is refused."""

Chances = dict[str, float]


@dataclass(frozen=True)
class Truth:
    """Every text and its chance."""

    chances: Mapping[tuple[str, ...], float]

    @property
    def entropy(self) -> float:
        """What a perfect model pays for a whole text on average, in nats."""
        return -sum(chance * log(chance) for chance in self.chances.values())

    def next_word(self, words: Sequence[str]) -> Chances:
        """The chance of every word after these, "" for the end of the text; nothing where these cannot begin a text."""
        start, place = tuple(words), len(words)
        fitting = ((text, chance) for text, chance in self.chances.items() if text[:place] == start)
        return _normal(((*text, "")[place], chance) for text, chance in fitting)

    def word_at(self, words: Sequence[str], *places: int) -> Chances:
        """The chance of every word at the first place, given all words but those at `places` (masked words)."""
        open_places = set(places)
        known = [(k, word) for k, word in enumerate(words) if k not in open_places]
        return _normal(
            (text[places[0]], chance)
            for text, chance in self.chances.items()
            if len(text) == len(words) and all(text[k] == word for k, word in known)
        )


def _normal(shares: Iterator[tuple[str, float]]) -> Chances:
    sums: Chances = defaultdict(float)
    for word, share in shares:
        sums[word] += share
    total = sum(sums.values())
    return {word: share / total for word, share in sums.items()}


@lru_cache(maxsize=4)
def every_text(preset: str, rule: str) -> Truth:
    """All that a rule of a preset can write; "Document" is what the whole corpus consists of."""
    rules = grammar(preset)
    if rule not in rules.names:
        raise Refusal(f"The grammar of {preset} has no rule named {rule!r}; its names are like Document or Said-good.")
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for numbers, chance in _write_all(rules, [rules.names[rule]], {}):
        sums[tuple(spell(rules.forms, numbers))] += chance
        if len(sums) > MOST:
            raise Refusal(f"The rule {rule!r} of {preset} writes more than {MOST} texts; choose a smaller one.")
    return Truth(dict(sums))


def _write_all(rules: Grammar, start: list[int], bound: Mapping[int, tuple]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every way to write what stands on the stack `start`, as numbers of forms, with its chance."""
    ways: list[tuple[list[int], tuple[int, ...], float, Mapping[int, tuple]]] = [(start, (), 1.0, bound)]
    while ways:
        todo, out, chance, known = ways.pop()
        while todo and todo[-1] >= 0:
            out = (*out, todo[-1])
            todo = todo[:-1]
        if not todo:
            yield out, chance
            continue
        symbol, rest = todo[-1], todo[:-1]
        rule = rules.rules[symbol]
        if symbol in known:
            ways.append(([*rest, *known[symbol]], out, chance, known))
        elif rule.remember:
            for chosen, share in _write_all(rules, list(rule.parts[0]), known):
                ways.append((rest, out, chance * share, {**known, rule.remember: chosen[::-1]}))
        elif not rule.parts:
            raise Refusal("This rule repeats what its document remembers; choose the rule of a whole document.")
        else:
            for parts, cost in zip(rule.parts, rule.costs, strict=True):
                ways.append(([*rest, *parts], out, chance * exp(-cost), known))
