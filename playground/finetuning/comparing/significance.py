"""Is a lead larger than the noise between seeds? Paired t-tests, Holm's correction, and the chance level."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import fmean, stdev
from typing import Any

import scipy  # its parts are loaded when they are first used

LEVEL, POWER = 0.05, 0.8
"""How often chance alone may make a lead that is called one, and how often enough seeds find one that is there."""

ENOUGH_ALIKE = 6
"""So many leads on one side are no chance even without their sizes (sign test, 5 %)."""

SAME, MOST_SEEDS = 1e-9, 1000
"""Gaps that differ by less are the same but for rounding; more seeds than this are not advised."""


def critical(pairs: int) -> float:
    """The two-sided 5 % point of Student's t for so many pairs."""
    return float(scipy.special.stdtrit(pairs - 1, 1 - LEVEL / 2))


def p_value(gaps: Sequence[float]) -> float:
    """How often chance alone would make a mean gap at least this far from 0 (two-sided paired t-test)."""
    mean, error = fmean(gaps), stdev(gaps) / len(gaps) ** 0.5
    if error <= SAME:
        return 1.0 if abs(mean) <= SAME else 0.0
    return float(2 * scipy.special.stdtr(len(gaps) - 1, -abs(mean) / error))


def adjusted(values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons made at once, so that all together err as seldom as one (Holm 1979)."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = (min(1.0, (len(values) - rank) * values[number]) for rank, number in enumerate(order))
    return [value for _, value in sorted(zip(order, accumulate(corrected, max), strict=True))]


def at_chance(accuracies: Sequence[float], chance: float, texts: int) -> bool:
    """Whether guessing on so many texts would come as near to chance in 19 of 20 tries (binomial, normal limit)."""
    return abs(fmean(accuracies) - chance) <= 1.96 * (chance * (1 - chance) / max(1, texts)) ** 0.5


def alike(gaps: Sequence[float]) -> bool:
    """Whether a few gaps are exactly equal, so that their spread of 0 is chance and no measure of the noise."""
    return len(gaps) < ENOUGH_ALIKE and abs(gaps[0]) > SAME and max(gaps) - min(gaps) < SAME


def seeds_needed(gaps: Sequence[float]) -> int | None:
    """So many pairs find a lead and a spread like these four times out of five (paired t-test, 5 %); None: too many."""
    mean, spread = fmean(gaps), stdev(gaps)
    if mean <= 0:
        return None
    if spread <= SAME:
        return 2
    size = mean / spread
    found = (
        n for n in range(2, MOST_SEEDS + 1) if 1 - scipy.special.nctdtr(n - 1, size * n**0.5, critical(n)) >= POWER
    )
    return next(found, None)


def advice(gaps: Sequence[float]) -> str:
    """How many seeds it would take, in words; nothing where there is no lead that more seeds could show."""
    if fmean(gaps) <= SAME:
        return ""
    number = seeds_needed(gaps)
    return f"about {number}" if number else f"more than {MOST_SEEDS:,}"


def against(
    first: Sequence[float], others: Mapping[str, Sequence[float]], chance: float | None, texts: int
) -> list[Any]:
    """Each of several against the first, paired by seed: mean difference, its 95 % interval, and a verdict.

    Several comparisons are corrected together. Where both are no better than guessing, neither is better.
    """
    gaps = {name: [a - b for a, b in zip(some, first, strict=True)] for name, some in others.items()}
    tested = [name for name, each in gaps.items() if len(each) > 1 and not alike(each)]
    p = dict(zip(tested, adjusted([p_value(gaps[name]) for name in tested]), strict=True))
    verdicts = []
    for name, each in gaps.items():
        guessed = chance is not None and all(at_chance(some, chance, texts) for some in (first, others[name]))
        verdicts.append({"name": name} | _verdict(each, p.get(name), chance if guessed else None, len(tested)))
    return verdicts


def _verdict(gaps: Sequence[float], p: float | None, guessed: float | None, number: int) -> dict[str, Any]:
    """What the gaps of one of so many comparisons show; `guessed` is the chance level, where neither did better."""
    known: dict[str, Any] = {"difference": fmean(gaps), "low": None, "high": None, "p": p, "larger": False}
    known["seeds_needed"] = None
    if len(gaps) < 2:
        return known | {"said": "one seed says nothing about the noise"}
    mean, room = fmean(gaps), critical(len(gaps)) * stdev(gaps) / len(gaps) ** 0.5
    known |= {"low": mean - room, "high": mean + room} if p is not None else {}
    if guessed is not None:
        return known | {"said": f"both no better than guessing ({guessed:.3f})"}
    if p is None:
        said = f"{len(gaps)} exactly equal gaps say nothing about the noise; take at least {ENOUGH_ALIKE} seeds"
        return known | {"seeds_needed": ENOUGH_ALIKE, "said": said}
    if p < LEVEL:
        return known | {"larger": True, "said": "better" if mean > 0 else "worse"}
    leads = [gap if mean > 0 else -gap for gap in gaps]
    many, alone = advice(leads), f" of {number} comparisons" if p_value(gaps) < LEVEL else ""
    said = f"within the noise{alone}" + (f"; {many} seeds would be needed" if many else "")
    return known | {"seeds_needed": seeds_needed(leads), "said": said}


def leader(values: Mapping[str, Sequence[float]], kind: str, chance: float | None = None, texts: int = 0) -> str:
    """Whether the best of some kind leads the runner-up by more than the noise between seeds, each value paired."""
    ranked = sorted(values.items(), key=lambda item: -fmean(item[1]))
    if len(ranked) < 2 or len(ranked[0][1]) < 2:
        return f"One {kind} or one seed cannot be compared; take at least two of each."
    (best, first), (second, other) = ranked[:2]
    gaps = [a - b for a, b in zip(first, other, strict=True)]
    mean, error = fmean(gaps), stdev(gaps) / len(gaps) ** 0.5
    if chance is not None and all(at_chance(some, chance, texts) for some in (first, other)):
        return f"No {kind} is better than guessing ({chance:.3f}), so no winner."
    if alike(gaps):
        return (
            f"{best} leads {second} by {mean:.3f} with each of {len(gaps)} seeds: exactly equal gaps say nothing about "
            f"the noise, so no winner. Take at least {ENOUGH_ALIKE} seeds."
        )
    lead = f"{best} leads {second} by {mean:.3f} on average over {len(gaps)} seeds (standard error {error:.3f})"
    if mean > critical(len(gaps)) * error and mean > 0:
        return f"{lead}: larger than the noise between seeds (paired t-test, 5 %)."
    many = advice(gaps)
    more = f" {many[0].upper()}{many[1:]} seeds would be needed to tell a lead of this size." if many else ""
    return f"{lead}: within the noise, so no winner (paired t-test, 5 %).{more}"
