"""`playground claims`: the papers' claims as experiments that may disagree with the paper."""

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import torch
from tqdm import tqdm

from playground.claims.claim import GROUPS, Claim, claim_named, claims
from playground.claims.rule import Call
from playground.claims.run import OutcomeRecord, Progress, run
from playground.claims.verdict import Verdict, in_words, shipped, write
from playground.cli.options import Parser, common_options, number_of, pairs, path, refuse_unused, say, warn
from playground.errors import UserError, unwritable

RUN = "run"
"""The word behind `playground claims` that runs them."""


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
    """What tiny models can say of the claim, and what not."""
    rows: list[str]
    """Its rows in the inventory of the surveys."""
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
    """Seconds of one processor."""
    details: Verdict | None
    """The verdict with every number."""


class ClaimsFacts(TypedDict):
    """The claims."""

    claims: list[ClaimFacts]
    errors: NotRequired[list[str]]
    """Why claims could not be run, in sentences; left out where nothing is run."""
    files: NotRequired[list[str]]
    """The files that were written; left out without --out."""


FACTS = (ClaimsFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_or_run, seeded=False)
    option = command.add_argument
    chosen = f"{RUN}, then claims such as K040, or groups such as 'Masked language models'; without {RUN} their cards"
    option("names", nargs="*", metavar="run|CLAIM", help=chosen)
    option("--all", action="store_true", help="run all claims; those that are finished are not run again")
    option("--workers", type=number_of("processes"), default=1, metavar="N", help="parallel processes")
    option(
        "--set", action="append", default=[], metavar="KNOB=VALUE", help="a variant: steps=600, MLM.steps=600, seeds=3"
    )
    option("--again", action="store_true", help="run also what is finished")
    option("--out", type=path, metavar="DIR", help="write each verdict as a file")
    option("--csv", type=path, metavar="FILE", help="write the table")


def show_or_run(given: argparse.Namespace) -> int:
    """List the claims, show their cards, or run them."""
    torch.set_num_threads(1)
    running = given.names[:1] == [RUN]
    names = given.names[1:] if running else given.names
    if not running:
        refuse_unused(given, f"nothing is run; write playground claims {RUN}", "all", "workers", "set", "again", "out")
        chosen = _chosen(names) if names else list(claims().values())
        facts: ClaimsFacts = {"claims": [claim_facts(claim, shipped().get(claim.name)) for claim in chosen]}
        _write_table(given, facts)
        return say(given, facts, _cards(facts) if names else _table(facts))
    if given.all == bool(names):
        raise UserError(
            "Name the claims to run, or --all." if not names else "--all runs every claim; leave out the names."
        )
    chosen = list(claims().values()) if given.all else _chosen(names)
    settings = pairs(given.set, "The setting")
    if settings and len(chosen) != 1:
        raise UserError(f"--set turns the knobs of one claim, not of {len(chosen)}; name one.")
    if settings and given.out:
        raise UserError("--out writes verdicts of the cards as they stand; leave out --set.")
    chosen = [claim.turned(settings) for claim in chosen]
    return _run(given, chosen)


def _run(given: argparse.Namespace, chosen: Sequence[Claim]) -> int:
    record = OutcomeRecord() if given.again else OutcomeRecord.of_user()
    found, files, errors = dict[str, Verdict](), list[str](), list[str]()
    for progress in _with_bar(run(chosen, given.workers, record), chosen):
        if progress.verdict is not None:
            found[progress.claim.name] = progress.verdict
            if given.out:
                files.append(str(write(progress.claim, progress.verdict, Path(given.out))))
        elif progress.error:
            errors.append(progress.error)
    warn(*errors)
    facts: ClaimsFacts = {
        "claims": [claim_facts(claim, found.get(claim.name)) for claim in chosen], "errors": errors,
    }  # fmt: skip
    if given.out:
        facts["files"] = files
    _write_table(given, facts)
    say(given, facts, _cards(facts) if len(chosen) < 4 else _table(facts))
    return 1 if errors else 0


def _chosen(names: Sequence[str]) -> list[Claim]:
    """The claims and the claims of the groups that are named, each once."""
    groups = {group.lower(): group for group in GROUPS}
    found: dict[str, Claim] = {}
    for name in names:
        group = groups.get(name.strip().lower())
        some = [c for c in claims().values() if c.group == group] if group else [claim_named(name)]
        found |= {claim.name: claim for claim in some}
    return list(found.values())


def _with_bar(events: Iterator[Progress], chosen: Sequence[Claim]) -> Iterator[Progress]:
    total = sum(claim.seeds for claim in chosen)
    with tqdm(total=total, desc="claims", unit="seed", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            bar.set_postfix_str(event.claim.name, refresh=False)
            bar.update()
            yield event


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
        "rows": list(claim.rows),
        "errata": list(claim.errata),
        "history": list(claim.history),
        "verdict": verdict and verdict["call"],
        "effect": first and first["difference"],
        "low": first and first["low"],
        "high": first and first["high"],
        "seeds": claim.seeds,
        "seconds": verdict and verdict["seconds"],
        "details": verdict,
    }


def _effect(facts: ClaimFacts) -> str:
    """The effect with its interval."""
    if facts["effect"] is None:
        return ""
    low, high = facts["low"], facts["high"]
    room = "" if low is None or high is None or low == high else f" ({low:.3g} to {high:.3g})"
    return f"{facts['effect']:+.3g}{room}"


def _table(facts: ClaimsFacts) -> list[str]:
    """A line for each claim, under its group, and how many there are of each verdict."""
    lines, group = list[str](), ""
    for each in facts["claims"]:
        if each["group"] != group:
            group = each["group"]
            lines.append(group)
        seconds = "" if each["seconds"] is None else f"{each['seconds']:.0f} s"
        lines.append(
            f"  {each['name']:<6} {each['title']:<52} {each['verdict'] or 'not run':<10} {_effect(each):<30} {seconds}"
        )
    verdicts = [each["verdict"] or "not run" for each in facts["claims"]]
    counted = {call: verdicts.count(call) for call in ("agrees", "disagrees", "undecided", "not run")}
    return [*lines, ", ".join(f"{number} {call}" for call, number in counted.items() if number)]


def _cards(facts: ClaimsFacts) -> list[str]:
    """Each claim in full."""
    return [line for each in facts["claims"] for line in _card(each)]


def _card(facts: ClaimFacts) -> Iterator[str]:
    yield f"{facts['name']} {facts['title']} ({facts['group']})"
    yield f"  claim      {facts['statement']}"
    yield f"  source     {facts['source']}"
    yield f"  if it held {facts['prediction']}"
    yield f"  if not     {facts['otherwise']}"
    for name, own in facts["arms"].items():
        yield f"  arm        {name}: " + (", ".join(f"{k}={v}" for k, v in own.items()) or "as below")
    yield "  all arms   " + ", ".join(f"{k}={v}" for k, v in facts["common"].items())
    yield f"  rule       {'; '.join(facts['rules'])} ({facts['seeds']} seeds)"
    if facts["published"]:
        yield f"  published  {facts['published']}"
    yield f"  scale      {facts['scale']}"
    if (verdict := facts["details"]) is None:
        yield f"  verdict    not run; playground claims {RUN} {facts['name']} runs it"
        return
    for name, values in verdict["values"].items():
        yield f"  found      {name}: " + " ".join(f"{value:.4g}" for value in values)
    yield f"  verdict    {verdict['call']}. {in_words(verdict, facts['unit'])}"
    code = f"torch {verdict['torch']}, code {verdict['code']}"
    yield f"  computed   {verdict['date']}, {verdict['seconds']:.0f} s, {code}"


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


def table_csv(facts: ClaimsFacts) -> str:
    """The table as CSV."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(facts["claims"])
    return text.getvalue()


def _write_table(given: argparse.Namespace, facts: ClaimsFacts) -> None:
    if given.csv:
        try:
            Path(given.csv).write_text(table_csv(facts), encoding="utf-8")
        except OSError as error:
            raise unwritable(given.csv, error) from error
