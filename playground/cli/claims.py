"""`playground claims`: the papers' claims as experiments that may disagree with the paper."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import torch
from tqdm import tqdm

from playground.claims.claim import GROUPS, Claim, claim_named, claims
from playground.claims.report import ClaimFacts, claim_facts, effect, table_csv
from playground.claims.run import OutcomeRecord, Progress, run
from playground.claims.verdict import Verdict, in_words, shipped, write
from playground.cli.options import Parser, common_options, number_of, pairs, path, refuse_unused, say, warn
from playground.errors import UserError, writing

RUN = "run"
"""The word behind `playground claims` that runs them."""


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
        raise UserError("--out writes the verdicts of unchanged cards; leave out --set.")
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


def _table(facts: ClaimsFacts) -> list[str]:
    """A line for each claim, under its group, and how many there are of each verdict."""
    lines, group = list[str](), ""
    for each in facts["claims"]:
        if each["group"] != group:
            group = each["group"]
            lines.append(group)
        seconds = "" if each["seconds"] is None else f"{each['seconds']:.0f} s"
        lines.append(
            f"  {each['name']:<6} {each['title']:<52} {each['verdict'] or 'not run':<10} {effect(each):<30} {seconds}"
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


def _write_table(given: argparse.Namespace, facts: ClaimsFacts) -> None:
    if given.csv:
        with writing(given.csv):
            Path(given.csv).write_text(table_csv(facts["claims"]), encoding="utf-8")
