"""The exact probabilities of texts, where the grammar is small enough to enumerate them all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Grammar
from playground.corpora.tinyworld.world import grammar
from playground.errors import UserError

MOST = 250_000
"""The largest number of texts; a rule with more is refused."""

Chances = dict[str, float]


@dataclass(frozen=True)
class Truth:
    """Every text and its probability."""

    chances: Mapping[tuple[str, ...], float]

    @property
    def entropy(self) -> float:
        """The entropy of a whole text, in nats."""
        return -sum(chance * log(chance) for chance in self.chances.values())

    def next_word(self, words: Sequence[str]) -> Chances:
        """The probability of every word after these, "" for the end of the text; empty where no text begins so."""
        start, position = tuple(words), len(words)
        fitting = ((text, chance) for text, chance in self.chances.items() if text[:position] == start)
        return _normalised(((*text, "")[position], chance) for text, chance in fitting)

    def word_at(self, words: Sequence[str], *positions: int) -> Chances:
        """The probability of every word at the first place, given all words but those at `positions` (masked words)."""
        known = [(k, word) for k, word in enumerate(words) if k not in positions]
        return _normalised(
            (text[positions[0]], chance)
            for text, chance in self.chances.items()
            if len(text) == len(words) and all(text[k] == word for k, word in known)
        )


def _normalised(weights: Iterator[tuple[str, float]]) -> Chances:
    sums: Chances = defaultdict(float)
    for word, weight in weights:
        sums[word] += weight
    total = sum(sums.values())
    return {word: weight / total for word, weight in sums.items()}


@lru_cache(maxsize=4)
def every_text(preset: str, rule: str) -> Truth:
    """All texts that a rule of a preset can write; "Document" is the rule of whole documents."""
    rules = grammar(preset)
    if rule not in rules.names:
        raise UserError(
            f"The grammar of {preset} has no rule named {rule!r}; its names are like Document or Said-good."
        )
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for numbers, chance in expansions(rules, [rules.names[rule]], {}):
        sums[tuple(spell([rules.forms[number] for number in numbers]))] += chance
        if len(sums) > MOST:
            raise UserError(f"The rule {rule!r} of {preset} writes more than {MOST} texts; choose a smaller one.")
    return Truth(dict(sums))


def expansions(rules: Grammar, start: list[int], bound: Mapping[int, tuple]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every expansion of the stack `start`, as numbers of forms, with its probability, given the remembered choices."""
    ways: list[tuple[list[int], tuple[int, ...], float, Mapping[int, tuple]]] = [(start, (), 1.0, bound)]
    while ways:
        stack, out, chance, remembered = ways.pop()
        while stack and stack[-1] >= 0:
            out = (*out, stack[-1])
            stack = stack[:-1]
        if not stack:
            yield out, chance
            continue
        symbol, rest = stack[-1], stack[:-1]
        rule = rules.rules[symbol]
        if symbol in remembered:
            ways.append(([*rest, *remembered[symbol]], out, chance, remembered))
        elif rule.remember:
            for chosen, probability in expansions(rules, list(rule.parts[0]), remembered):
                ways.append((rest, out, chance * probability, {**remembered, rule.remember: chosen[::-1]}))
        elif not rule.parts:
            raise UserError("This rule repeats what its document remembers; choose the rule of a whole document.")
        else:
            for parts, cost in zip(rule.parts, rule.costs, strict=True):
                ways.append(([*rest, *parts], out, chance * exp(-cost), remembered))
