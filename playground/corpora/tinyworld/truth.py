"""The exact probabilities of texts, where the grammar is small enough to enumerate them all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import exp

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Grammar
from playground.corpora.tinyworld.world import grammar
from playground.errors import UserError

MOST = 250_000
"""The largest number of texts; a rule with more is refused."""


@lru_cache(maxsize=4)
def every_text(preset: str, rule: str) -> dict[tuple[str, ...], float]:
    """All texts that a rule of a preset can write, with their chances; "Document" is the rule of whole documents."""
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
    return dict(sums)


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
