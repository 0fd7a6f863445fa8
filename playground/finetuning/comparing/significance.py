"""Is a lead larger than the noise between seeds? Paired t-tests, Holm's correction, and what chance would reach."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from scipy.special import nctdtr, stdtr, stdtrit

LEVEL = 0.05
"""A lead is called larger than the noise if chance alone would make it less often than this."""

POWER = 0.8
"""How often an experiment of the advised size would find a lead that is there."""

ENOUGH_ALIKE = 6
"""So many leads on one side are no chance even without their sizes (sign test, 5 %)."""

SAME = 1e-9
"""Two gaps that differ by less are one and the same, but for rounding."""

MOST_SEEDS = 1000


def critical(pairs: int) -> float:
    """The two-sided 5 % point of Student's t for so many pairs."""
    return float(stdtrit(pairs - 1, 1 - LEVEL / 2))


def p_value(gaps: Sequence[float]) -> float:
    """How often chance alone would make a mean gap at least this far from 0 (two-sided paired t-test)."""
    mean, error = fmean(gaps), stdev(gaps) / len(gaps) ** 0.5
    if error <= SAME:
        return 1.0 if abs(mean) <= SAME else 0.0
    return float(2 * stdtr(len(gaps) - 1, -abs(mean) / error))


def adjusted(values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons made at once, so that all together err as seldom as one (Holm 1979)."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, highest = [0.0] * len(values), 0.0
    for rank, number in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[number]))
        found[number] = highest
    return found


def at_chance(accuracy: float, chance: float, texts: int) -> bool:
    """Whether guessing on so many texts would come as near to chance in 19 of 20 tries (binomial, normal limit)."""
    return abs(accuracy - chance) <= 1.96 * (chance * (1 - chance) / max(1, texts)) ** 0.5


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
    found = (n for n in range(2, MOST_SEEDS + 1) if 1 - nctdtr(n - 1, size * n**0.5, critical(n)) >= POWER)
    return next(found, None)


def how_many(gaps: Sequence[float]) -> str:
    """How many seeds it would take, in words; nothing where there is no lead that more seeds could show."""
    if fmean(gaps) <= SAME:
        return ""
    number = seeds_needed(gaps)
    return f"about {number}" if number else f"more than {MOST_SEEDS:,}"


def against(
    first: Sequence[float], others: Mapping[str, Sequence[float]], chance: float | None, texts: int
) -> list[Any]:
    """Each of several against the first, paired by seed: mean difference, its 95 % interval, and what it says.

    Several comparisons are corrected together. Where both are no better than guessing, neither is better.
    """
    gaps = {name: [a - b for a, b in zip(some, first, strict=True)] for name, some in others.items()}
    tested = [name for name, each in gaps.items() if len(each) > 1 and not alike(each)]
    p = dict(zip(tested, adjusted([p_value(gaps[name]) for name in tested]), strict=True))
    guessed = {
        name: chance is not None and all(at_chance(fmean(some), chance, texts) for some in (first, others[name]))
        for name in others
    }
    return [
        {"name": name} | _said(each, p.get(name), chance if guessed[name] else None, len(tested))
        for name, each in gaps.items()
    ]


def _said(gaps: Sequence[float], p: float | None, guessed: float | None, number: int) -> dict[str, Any]:
    """What the gaps of one of so many comparisons say; `guessed` is chance, where neither did better."""
    told: dict[str, Any] = {"difference": fmean(gaps), "low": None, "high": None, "p": p, "larger": False}
    if len(gaps) < 2:
        return told | {"seeds_needed": None, "said": "one seed says nothing about the noise"}
    mean, room = fmean(gaps), critical(len(gaps)) * stdev(gaps) / len(gaps) ** 0.5
    told |= {"seeds_needed": None} | ({"low": mean - room, "high": mean + room} if p is not None else {})
    if guessed is not None:
        return told | {"said": f"both no better than guessing ({guessed:.3f})"}
    if p is None:
        said = f"{len(gaps)} exactly equal gaps say nothing about the noise; take at least {ENOUGH_ALIKE} seeds"
        return told | {"seeds_needed": ENOUGH_ALIKE, "said": said}
    if p < LEVEL:
        return told | {"larger": True, "said": "better" if mean > 0 else "worse"}
    leads = [gap if mean > 0 else -gap for gap in gaps]
    many = how_many(leads)
    alone = f" of {number} comparisons" if p_value(gaps) < LEVEL else ""
    said = f"within the noise{alone}; {many} seeds would be needed" if many else f"within the noise{alone}"
    return told | {"seeds_needed": seeds_needed(leads), "said": said}


def leader(values: Mapping[str, Sequence[float]], kind: str, chance: float | None = None, texts: int = 0) -> str:
    """Whether the best of some kind leads the runner-up by more than the noise between seeds, each value paired."""
    ranked = sorted(values.items(), key=lambda item: -fmean(item[1]))
    if len(ranked) < 2 or len(ranked[0][1]) < 2:
        return f"One {kind} or one seed cannot be compared; take at least two of each."
    (best, first), (second, other) = ranked[:2]
    gaps = [a - b for a, b in zip(first, other, strict=True)]
    mean, error = fmean(gaps), stdev(gaps) / len(gaps) ** 0.5
    if chance is not None and all(at_chance(fmean(some), chance, texts) for some in (first, other)):
        return f"No {kind} is better than guessing ({chance:.3f}), so no winner."
    if alike(gaps):
        return (
            f"{best} leads {second} by {mean:.3f} with each of {len(gaps)} seeds: exactly equal gaps say nothing about "
            f"the noise, so no winner. Take at least {ENOUGH_ALIKE} seeds."
        )
    said = f"{best} leads {second} by {mean:.3f} on average over {len(gaps)} seeds (standard error {error:.3f})"
    if mean > critical(len(gaps)) * error and mean > 0:
        return f"{said}: larger than the noise between seeds (paired t-test, 5 %)."
    many = how_many(gaps)
    more = f" {many[0].upper()}{many[1:]} seeds would be needed to tell a lead of this size." if many else ""
    return f"{said}: within the noise, so no winner (paired t-test, 5 %).{more}"
