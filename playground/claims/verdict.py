"""What the seeds say of a claim, with what it was computed from; the verdicts that come with the program are files."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

from playground import __version__
from playground.claims.claim import Claim
from playground.claims.rule import Call, RuleFacts, overall
from playground.errors import UserError, writing
from playground.parsing import parse_json
from playground.training.store.ready_made import code_hash

FOLDER = Path(__file__).parent / "verdicts"
"""The verdicts that come with the program, a file for each claim."""


class EarlierVerdict(TypedDict):
    """A verdict by an earlier rule."""

    date: str
    fingerprint: str
    call: Call
    history: int
    """How many lines the history of the card had."""


class Verdict(TypedDict):
    """What the seeds say of a claim."""

    claim: str
    call: Call
    rules: list[RuleFacts]
    """What each rule found."""
    values: dict[str, list[float]]
    """The figure of each arm with every seed."""
    seeds: list[int]
    seconds: float
    """Seconds in one process, with the training of every model."""
    runs: dict[str, list[str]]
    """The run of each arm with every seed; empty where nothing was trained."""
    fingerprint: str
    """Hash of the arms, the rules and the seeds."""
    code: str
    """Hash of the sources on which the numbers of a run depend, and of torch."""
    playground: str
    """Version of the program."""
    torch: str
    date: str
    """When it was computed (ISO 8601)."""
    history: int
    """How many lines the history of the card had."""
    earlier: NotRequired[list[EarlierVerdict]]
    """Verdicts by earlier rules, the oldest first."""


def decide(
    claim: Claim, values: Mapping[str, Sequence[float]], seeds: Sequence[int], seconds: float = 0.0,
    runs: Mapping[str, Sequence[str]] | None = None,
) -> Verdict:  # fmt: skip
    """The verdict of a claim on the figures of its arms."""
    facts = [rule.judge(values, len(claim.rules)) for rule in claim.rules]
    return {
        "claim": claim.name,
        "call": overall(facts),
        "rules": facts,
        "values": {name: list(values[name]) for name in claim.arms},
        "seeds": list(seeds),
        "seconds": round(seconds, 2),
        "runs": {name: list(each) for name, each in (runs or {}).items()},
        "fingerprint": claim.fingerprint,
        "code": code_hash()[:12],
        "playground": __version__,
        "torch": torch.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "history": len(claim.history),
    }


def in_words(verdict: Verdict, unit: str = "") -> str:
    """The verdict in a sentence for each rule."""
    return " ".join(sentences(verdict, unit))


def sentences(verdict: Verdict, unit: str = "") -> list[str]:
    """What was found, a sentence for each rule."""
    return [_sentence(each, unit, len(verdict["seeds"])) for each in verdict["rules"]]


def _sentence(facts: RuleFacts, unit: str, seeds: int) -> str:
    low, high = facts["low"], facts["high"]
    room = "" if low is None or high is None or low == high else f" ({low:.3g} to {high:.3g})"
    rule = f"{facts['rule'][0].upper()}{facts['rule'][1:]}"
    found = f"{rule}: {facts['difference']:.3g}{' ' * bool(unit)}{unit}{room}, {facts['call']}"
    if facts["call"] != "undecided":
        return f"{found}."
    if seeds < 2:
        return f"{found}; one seed says nothing about the noise."
    needed = facts["seeds_needed"]
    return f"{found}; " + (
        f"about {needed} seeds would decide." if needed else "more than 1,000 seeds would be needed."
    )


@cache
def shipped() -> dict[str, Verdict]:
    """The verdicts that come with the program, by claim."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.json"))}


def read(path: Path) -> Verdict:
    """A verdict of a file."""
    return parse_json(path.read_text(encoding="utf-8"))


def write(claim: Claim, verdict: Verdict, folder: Path) -> Path:
    """Write the verdict into a folder; one by another rule stays as an earlier one.

    A rule that was changed after a verdict is refused, unless the history of the card has a line more.
    """
    path = folder / f"{claim.name}.json"
    if path.exists():
        old = read(path)
        earlier = old.get("earlier", [])
        if old["fingerprint"] != verdict["fingerprint"]:
            if old["history"] >= len(claim.history):
                raise UserError(
                    f"The rule of {claim.name} changed after its verdict of {old['date']} ({old['call']}). Add a line "
                    "to the history of its card that says why."
                )
            about = EarlierVerdict(
                date=old["date"], fingerprint=old["fingerprint"], call=old["call"], history=old["history"]
            )
            earlier = [*earlier, about]
        if earlier:
            verdict = {**verdict, "earlier": earlier}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(verdict, indent=1) + "\n", encoding="utf-8")
    return path
