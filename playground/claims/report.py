"""Claims with their verdicts as plain data and as a table."""

import csv
import io
from collections.abc import Sequence
from typing import Any, TypedDict

from playground.claims.claim import Claim
from playground.claims.errata import ERRATA
from playground.claims.rule import Call
from playground.claims.verdict import Verdict


class ClaimFacts(TypedDict):
    """A claim with its verdict; what only a verdict has is null where there is none."""

    name: str
    title: str
    group: str
    statement: str
    """What the paper says, in our words."""
    source: str
    prediction: str
    """What would be seen if the claim held."""
    otherwise: str
    """What would be seen if it did not."""
    arms: dict[str, dict[str, Any]]
    """What is set for each arm; everything else is the same."""
    common: dict[str, Any]
    """What all arms share."""
    differs: list[str]
    """The fields in which the arms differ."""
    rules: list[str]
    """What decides, in words."""
    unit: str
    """The unit of the figure."""
    published: str
    """The figure of the paper; empty where it names none."""
    scale: str
    """What tiny models can show about the claim, and what not."""
    errata: list[str]
    """Misprints of the sources that it settles."""
    history: list[str]
    """How the rule was changed."""
    verdict: Call | None
    effect: float | None
    """The difference of the first rule, the mean over the seeds."""
    low: float | None
    """Where its interval begins; null where the seeds do not show the noise."""
    high: float | None
    """Where its interval ends."""
    seeds: int
    seconds: float | None
    """Seconds in one process."""
    details: Verdict | None
    """The verdict with every number."""


def claim_facts(claim: Claim, verdict: Verdict | None) -> ClaimFacts:
    """A claim with its verdict as plain data."""
    first = None if verdict is None else verdict["rules"][0]
    return {
        "name": claim.name,
        "title": claim.title,
        "group": claim.group,
        "statement": claim.statement,
        "source": claim.source,
        "prediction": claim.prediction,
        "otherwise": claim.otherwise,
        "arms": {name: dict(own) for name, own in claim.arms.items()},
        "common": {name: value for name, value in claim.common.shown.items() if name not in claim.differs},
        "differs": list(claim.differs),
        "rules": [rule.words for rule in claim.rules],
        "unit": claim.unit,
        "published": claim.published,
        "scale": claim.scale,
        "errata": [each.name for each in ERRATA if each.decides == claim.name],
        "history": list(claim.history),
        "verdict": verdict and verdict["call"],
        "effect": first and first["difference"],
        "low": first and first["low"],
        "high": first and first["high"],
        "seeds": claim.seeds,
        "seconds": verdict and verdict["seconds"],
        "details": verdict,
    }


def effect(facts: ClaimFacts) -> str:
    """The effect with its interval; empty where there is no verdict."""
    if facts["effect"] is None:
        return ""
    low, high = facts["low"], facts["high"]
    room = "" if low is None or high is None or low == high else f" ({low:.3g} to {high:.3g})"
    return f"{facts['effect']:+.3g}{room}"


COLUMNS = (
    "name",
    "title",
    "group",
    "verdict",
    "effect",
    "low",
    "high",
    "unit",
    "seeds",
    "seconds",
    "published",
    "source",
)
"""The columns of the table as CSV."""


def table_csv(facts: Sequence[ClaimFacts]) -> str:
    """The table as CSV."""
    text = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(facts)
    return text.getvalue()
