"""The rule that decides a claim, written before the run: where a difference must lie, by a paired test over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from statistics import fmean
from typing import Literal, TypedDict

from playground.finetuning.comparing.significance import MOST_SEEDS, SAME, critical, deviation

LEVEL = 0.035
"""How often two equal arms are called different: so seldom that of 500 cards it is hardly ever more than 5 %.

With 5 seeds a difference of two standard deviations of the gaps is still called in 85 of 100 cards.
"""

INTERVAL = f"{1 - LEVEL:.1%} interval"
"""What the interval of a difference is called."""

LEAST = 2 * SAME
"""The smallest difference that is none of rounding."""

Call = Literal["agrees", "disagrees", "undecided"]

Values = Mapping[str, Sequence[float]]
"""The figure of each arm with every seed, in the order of the seeds."""


class RuleFacts(TypedDict):
    """What a rule found."""

    rule: str
    """The rule in words."""
    call: Call
    difference: float
    """The mean over the seeds of the first minus the second."""
    low: float | None
    """Where the interval of the difference begins, of an exact rule the smallest one; null with one seed."""
    high: float | None
    """Where the interval ends."""
    seeds_needed: int | None
    """How many seeds would decide a difference and a spread like these; null where it is decided, or none would."""


@dataclass(frozen=True)
class Rule:
    """The mean over seeds of `first` minus `second` lies from `low` to `high` if the claim holds.

    `first` is an arm, `second` another one or a number. The interval of the difference (paired t-test, 96.5 % for
    all rules of a claim together) lies wholly inside: agrees; wholly outside: disagrees; else undecided. An `exact`
    rule is about what is computed without chance: it must hold with every seed.
    """

    first: str
    second: str | float
    low: float
    high: float
    exact: bool = False

    def gaps(self, values: Values) -> list[float]:
        """First minus second with each seed."""
        second = self.second
        others = values[second] if isinstance(second, str) else [second] * len(values[self.first])
        return [a - b for a, b in zip(values[self.first], others, strict=True)]

    def judge(self, values: Values, rules: int = 1) -> RuleFacts:
        """What the rule says of the values; `rules` is how many the claim has."""
        gaps = self.gaps(values)
        mean, needed = fmean(gaps), None
        low, high = self._interval(gaps, rules)
        call: Call = "undecided"
        if self.exact:
            call = "agrees" if all(self._inside(gap) for gap in gaps) else "disagrees"
        elif low is not None and high is not None:
            call = self._call(low, high)
            needed = self._needed(mean, deviation(gaps), len(gaps), rules) if call == "undecided" else None
        return {
            "rule": self.words, "call": call, "difference": mean, "low": low, "high": high, "seeds_needed": needed,
        }  # fmt: skip

    def _interval(self, gaps: Sequence[float], rules: int) -> tuple[float, float] | tuple[None, None]:
        """The interval of the mean, of an exact rule the range of the seeds; none where one seed shows no noise."""
        if self.exact:
            return min(gaps), max(gaps)
        if len(gaps) < 2:
            return None, None
        room = critical(len(gaps), LEVEL / rules) * deviation(gaps) / len(gaps) ** 0.5
        return fmean(gaps) - room, fmean(gaps) + room

    def _inside(self, value: float) -> bool:
        return self.low - SAME <= value <= self.high + SAME

    def _call(self, low: float, high: float) -> Call:
        if self._inside(low) and self._inside(high):
            return "agrees"
        return "disagrees" if high < self.low - SAME or low > self.high + SAME else "undecided"

    def _needed(self, mean: float, spread: float, seeds: int, rules: int) -> int | None:
        """The first number of seeds whose interval would lie on one side, if mean and spread stayed as they are."""
        bounds = [abs(mean - bound) for bound in (self.low, self.high) if not isinf(bound)]
        room = min(bounds) if self._inside(mean) or mean < self.low else abs(mean - self.high)
        enough = (n for n in range(seeds + 1, MOST_SEEDS + 1) if critical(n, LEVEL / rules) * spread / n**0.5 < room)
        return next(enough, None)

    @property
    def words(self) -> str:
        """The rule in words, such as "MLM minus LM is at least 0.5"."""
        second = self.second if isinstance(self.second, str) else f"{self.second:g}"
        about = self.first if self.second == 0 else f"{self.first} minus {second}"
        every = " with every seed" if self.exact else ""
        if self.low == self.high:
            return f"{about} is {'exactly ' * self.exact}{self.low:g}{every}"
        if self.low == LEAST or self.high == -LEAST:
            return f"{about} is {'above' if self.low == LEAST else 'below'} 0{every}"
        if isinf(self.high):
            return f"{about} is at least {self.low:g}{every}"
        if isinf(self.low):
            return f"{about} is at most {self.high:g}{every}"
        return f"{about} is between {self.low:g} and {self.high:g}{every}"


def higher(first: str, second: str | float, by: float = LEAST, exact: bool = False) -> Rule:
    """The first is higher than the second, by at least so much."""
    return Rule(first, second, by, inf, exact)


def lower(first: str, second: str | float, by: float = LEAST, exact: bool = False) -> Rule:
    """The first is lower than the second, by at least so much."""
    return Rule(first, second, -inf, -by, exact)


def alike(first: str, second: str | float, within: float, exact: bool = False) -> Rule:
    """The first and the second differ by at most so much in either direction."""
    return Rule(first, second, -within, within, exact)


def equal(first: str, second: str | float) -> Rule:
    """The first is exactly the second, with every seed."""
    return Rule(first, second, 0.0, 0.0, True)


def overall(facts: Sequence[RuleFacts]) -> Call:
    """What several rules say together: one that disagrees is enough to disagree, and all must agree to agree."""
    calls = [each["call"] for each in facts]
    if "disagrees" in calls:
        return "disagrees"
    return "undecided" if "undecided" in calls else "agrees"
