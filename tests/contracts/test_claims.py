"""Contracts of every claim: the rule stands before the data, the arms differ in what the card says and nothing else."""

import re
from dataclasses import fields

import pytest

from playground.claims import Arm, Claim, claims
from playground.claims.claim import GROUPS
from playground.claims.errata import ERRATA
from playground.claims.lab import ARM, differences, entry_of
from playground.claims.rule import overall
from playground.claims.verdict import decide, shipped
from playground.zoo.changes import OBJECTIVE

CLAIMS = [pytest.param(claim, id=name) for name, claim in claims().items()]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_card_says_what_would_be_seen_and_what_decides(claim: Claim) -> None:
    assert claim.group in GROUPS
    texts = (claim.title, claim.statement, claim.source, claim.prediction, claim.otherwise, claim.scale)
    assert all(text.strip() for text in texts)
    assert all(text[-1] in ".!?)" for text in texts[1:] if text is not claim.source)
    assert claim.rules
    assert re.fullmatch(r"K\d{3}b?", claim.name)
    assert claim.seeds >= (1 if all(rule.exact for rule in claim.rules) else 4)
    for rule in claim.rules:
        assert {rule.first, rule.second if isinstance(rule.second, str) else rule.first} <= set(claim.arms)
        assert rule.low <= rule.high
    for arm in claim.sides.values():
        assert claim.compute or arm.figure, "a card reads a figure or computes one"
        assert entry_of(arm)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_arms_differ_in_what_the_card_says_and_nothing_else(claim: Claim) -> None:
    changes = differences(claim)
    differ = {each.part for each in changes if each.group == ARM}
    assert len(differ) <= 1, "one field differs"
    assert differ <= {f.name for f in fields(Arm)}
    assert len(claim.arms) == 1 or differ, "arms that do not differ show nothing"
    others = {each.part for each in changes if each.group not in (ARM, OBJECTIVE)}
    settled = differ == {"settings"}  # what the setting names is what differs
    assert set(claim.also) == (set() if settled else others)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_rule_of_a_verdict_is_that_of_the_card(claim: Claim) -> None:
    assert claim.name in shipped(), f"playground claims run {claim.name} --out playground/claims/verdicts"
    verdict = shipped()[claim.name]
    changed = "the rule changed after the verdict: run the claim again, with a line in its history that says why"
    assert verdict["fingerprint"] == claim.fingerprint, changed
    again = decide(claim, verdict["values"], verdict["seeds"])
    assert verdict["call"] == again["call"] == overall(verdict["rules"])
    assert verdict["rules"] == again["rules"], "the numbers of a verdict follow from the figures of its seeds"
    earlier = verdict.get("earlier", [])
    assert [each["history"] for each in earlier] == sorted({each["history"] for each in earlier})
    assert not earlier or earlier[-1]["history"] < len(claim.history), "each change has a line of its own"
    assert len(verdict["seeds"]) == claim.seeds
    assert set(verdict["values"]) == set(claim.arms)


def test_an_erratum_that_a_claim_decides_names_one() -> None:
    assert len({each.name for each in ERRATA}) == len(ERRATA)
    named = {each.decides for each in ERRATA if re.fullmatch(r"K\d+", each.decides)}
    assert named <= claims().keys()


def test_every_verdict_belongs_to_a_claim() -> None:
    assert shipped().keys() <= claims().keys()
