"""Is a lead larger than the noise between seeds? Paired t-tests, Holm's correction, and the chance level."""

from bisect import bisect_left
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import accumulate
from math import hypot
from statistics import fmean
from typing import TypedDict, TypeVar

import scipy  # its parts are loaded when they are first used

LEVEL, POWER = 0.05, 0.8
"""How often chance alone may make a lead that is called one, and how often enough seeds find one that is there."""

SEEDS = 5
"""Seeds where none are named: 3 find a lead of two standard deviations of the gaps in 47 of 100 cases, 5 in 91."""

USUAL_NOISE = 0.04
"""The standard deviation over seeds of a difference in accuracy between two strategies (`benchmarks/verdicts.py`)."""

ENOUGH_ALIKE = 6
"""So many leads on one side are no chance even without their sizes (sign test, 5 %)."""

SAME, MOST_SEEDS = 1e-9, 1000
"""Gaps that differ by less are the same but for rounding; more seeds than this are not advised."""

FAR = 30.0
"""Standard errors from which on the noncentral t distribution is not computed any more."""


class Verdict(TypedDict):
    """The difference between two things that were run with the same seeds, and whether it is beyond the noise."""

    difference: float
    """The mean over the seeds of the first minus the second, in the unit of the metric."""

    low: float | None
    """Where the 95 % interval of the difference begins; null where the seeds do not show the noise."""

    high: float | None
    """Where the 95 % interval of the difference ends."""

    p: float | None
    """The p-value of the paired t-test with Holm's correction; null where nothing could be tested."""

    larger: bool
    """Whether the difference is larger than the noise between seeds, at a level of 5 % for all comparisons together."""

    comparisons: int
    """How many comparisons were tested together."""

    at_chance: float | None
    """The chance level, where neither beats guessing; otherwise null."""

    seeds_needed: int | None
    """How many seeds would find a difference of this size with a power of 80 %; null where that is not known."""

    said: str
    """The verdict in words."""


class PairFacts(Verdict):
    """One thing against another, paired by seed."""

    name: str
    """The first of the two."""

    against: str
    """What it is compared with."""


K = TypeVar("K", bound=Hashable)
Values = Mapping[K, Sequence[float]]
"""The value of each thing that is compared with every seed."""


def critical(pairs: int, level: float = LEVEL) -> float:
    """The two-sided point of Student's t for so many pairs."""
    return float(scipy.special.stdtrit(pairs - 1, 1 - level / 2))


def deviation(gaps: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    mean = fmean(gaps)
    return hypot(*(gap - mean for gap in gaps)) / (len(gaps) - 1) ** 0.5


def p_value(gaps: Sequence[float]) -> float:
    """How often chance alone would make a mean gap at least this far from 0 (two-sided paired t-test)."""
    mean, error = fmean(gaps), deviation(gaps) / len(gaps) ** 0.5
    if error <= SAME:
        return 1.0 if abs(mean) <= SAME else 0.0
    return float(2 * scipy.special.stdtr(len(gaps) - 1, -abs(mean) / error))


def adjusted(values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons made at once, so that all together err as seldom as one (Holm 1979)."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = (min(1.0, (len(values) - rank) * values[number]) for rank, number in enumerate(order))
    return [value for _, value in sorted(zip(order, accumulate(corrected, max), strict=True))]


def at_chance(accuracies: Sequence[float], chance: float, texts: int) -> bool:
    """Whether the mean is no higher than guessing on so many texts comes in 19 of 20 tries (binomial, normal limit).

    `texts` are all different texts on which the mean of the accuracies was measured, those of all seeds together.
    """
    return fmean(accuracies) - chance <= 1.645 * (chance * (1 - chance) / max(1, texts)) ** 0.5


def alike(gaps: Sequence[float]) -> bool:
    """Whether a few gaps are exactly equal, so that their spread of 0 is chance and no measure of the noise."""
    return len(gaps) < ENOUGH_ALIKE and abs(gaps[0]) > SAME and max(gaps) - min(gaps) < SAME


def power(size: float, seeds: int, number: int) -> float:
    """How often so many seeds find a lead of `size` standard deviations, one of a number of comparisons."""
    limit, lead, free = critical(seeds, LEVEL / max(1, number)), size * seeds**0.5, seeds - 1
    if lead > FAR:  # where the noise of the mean counts no more, only that of the spread does
        return float(scipy.special.chdtr(free, free * (lead / limit) ** 2))
    return float(1 - scipy.special.nctdtr(free, lead, limit))


def seeds_needed(gaps: Sequence[float], number: int = 1) -> int | None:
    """So many seeds find a lead and a spread like these with a power of 80 %, one of a number of comparisons.

    None where more than `MOST_SEEDS` would be needed.
    """
    mean, spread = fmean(gaps), deviation(gaps)
    if mean <= SAME:
        return None
    if spread <= SAME:
        return 2
    found = bisect_left(range(MOST_SEEDS + 1), POWER, 2, key=lambda seeds: power(mean / spread, seeds, number))
    return found if found <= MOST_SEEDS else None


def smallest_lead(seeds: int, number: int) -> float:
    """The lead that so many seeds find with a power of 80 %, in standard deviations of the gaps between seeds."""
    return bisect_left(range(100_000), POWER, key=lambda size: power(size / 100, seeds, number)) / 100


def describe_power(seeds: int, number: int) -> str:
    """What so many seeds can find in a number of comparisons, in words, before they are run."""
    if seeds < 2:
        return "One seed says nothing about the noise between seeds; run at least two."
    size, several = smallest_lead(seeds, number), f" and {number} comparisons" if number > 1 else ""
    if size * USUAL_NOISE >= 1:
        return f"With {seeds} seeds{several}, no lead is found in {POWER:.0%} of cases; run more seeds."
    return (
        f"With {seeds} seeds{several}, a lead of about {size * USUAL_NOISE:.2g} is found in {POWER:.0%} of cases. "
        f"It is {size:.2g} standard deviations over seeds, each usually {USUAL_NOISE} of accuracy."
    )


def judge(
    values: Values[K], pairs: Collection[tuple[K, K]], chance: float | None = None, texts: int = 0
) -> dict[tuple[K, K], Verdict]:
    """The first of each pair against the second, paired by seed: mean difference, its 95 % interval, and a verdict.

    All pairs are one family: together they err as seldom as one test. A pair that comes in both directions is tested
    once. Where both are no better than guessing on so many different `texts`, neither is better.
    """
    gaps = {(one, two): [a - b for a, b in zip(values[one], values[two], strict=True)] for one, two in pairs}
    tested = {frozenset(pair): p_value(each) for pair, each in gaps.items() if len(each) > 1 and not alike(each)}
    p = dict(zip(tested, adjusted([*tested.values()]), strict=True))
    guessed = {key for pair in gaps for key in pair if chance is not None and at_chance(values[key], chance, texts)}
    return {
        pair: _verdict(each, p.get(frozenset(pair)), chance if guessed.issuperset(pair) else None, len(tested))
        for pair, each in gaps.items()
    }


def _verdict(gaps: Sequence[float], p: float | None, guessed: float | None, number: int) -> Verdict:
    """What the gaps of one of so many comparisons show; `guessed` is the chance level, where neither did better."""
    mean, (words, needed) = fmean(gaps), _describe(gaps, p, guessed, number)
    room = None if p is None else critical(len(gaps)) * deviation(gaps) / len(gaps) ** 0.5
    return {
        "difference": mean,
        "low": None if room is None else mean - room,
        "high": None if room is None else mean + room,
        "p": p,
        "larger": guessed is None and p is not None and p < LEVEL,
        "comparisons": number,
        "at_chance": guessed,
        "seeds_needed": needed,
        "said": words,
    }


def _describe(gaps: Sequence[float], p: float | None, guessed: float | None, number: int) -> tuple[str, int | None]:
    """The verdict in words, and how many seeds would be needed where there is none."""
    if len(gaps) < 2:
        return "one seed says nothing about the noise", None
    if guessed is not None:
        return f"both no better than guessing ({guessed:.3f})", None
    if p is None:
        words = f"{len(gaps)} exactly equal gaps say nothing about the noise; run at least {ENOUGH_ALIKE} seeds"
        return words, ENOUGH_ALIKE
    mean = fmean(gaps)
    if p < LEVEL:
        return "better" if mean > 0 else "worse", None
    needed = seeds_needed([gap if mean > 0 else -gap for gap in gaps], number)
    many = f"about {needed}" if needed else f"more than {MOST_SEEDS:,}"
    alone = f" of {number} comparisons" if p_value(gaps) < LEVEL else ""
    return f"within the noise{alone}" + (f"; {many} seeds would be needed" if abs(mean) > SAME else ""), needed


def top_two(values: Values[K]) -> list[tuple[K, K]]:
    """The best and the runner-up as a pair; none where there is one alone or one seed."""
    first, *others = sorted(values, key=lambda key: -fmean(values[key]))
    return [(first, others[0])] if others and len(values[first]) > 1 else []


def leader(values: Values[str], kind: str, judged: Sequence[Verdict]) -> str:
    """Whether the best of some kind leads the runner-up by more than the noise; `judged` is the verdict on both."""
    if not judged:
        return f"One {kind} or one seed cannot be compared; run at least two of each."
    [(best, second)], [verdict] = top_two(values), judged
    gaps = [a - b for a, b in zip(values[best], values[second], strict=True)]
    mean, error, number = fmean(gaps), deviation(gaps) / len(gaps) ** 0.5, verdict["comparisons"]
    if verdict["at_chance"] is not None:
        return f"No {kind} is better than guessing ({verdict['at_chance']:.3f}), so no winner."
    if verdict["p"] is None:
        return (
            f"{best} leads {second} by {mean:.3f} with each of {len(gaps)} seeds: exactly equal gaps say nothing about "
            f"the noise, so no winner. Run at least {ENOUGH_ALIKE} seeds."
        )
    lead = f"{best} leads {second} by {mean:.3f} on average over {len(gaps)} seeds (standard error {error:.3f})"
    test = f"(paired t-test, 5 %{f' over {number} comparisons' if number > 1 else ''})"
    if verdict["larger"] and mean > 0:
        return f"{lead}: larger than the noise between seeds {test}."
    needed = verdict["seeds_needed"]
    many = f"About {needed}" if needed else f"More than {MOST_SEEDS:,}"
    more = f" {many} seeds would be needed to detect a lead of this size." if mean > SAME else ""
    return f"{lead}: within the noise, so no winner {test}.{more}"
