"""Verdicts: in words, as files, and guarded against a rule that is changed afterwards."""

from dataclasses import replace

import pytest

from playground.claims import higher
from playground.claims.verdict import decide, in_words, read, write
from playground.errors import UserError
from tests.playground.claims.test_claim import CARD

VALUES = {"A": [2.0, 2.1, 2.2, 2.3, 2.4], "B": [1.0, 1.2, 1.1, 1.3, 1.2]}


def test_a_verdict_in_words():
    assert in_words(decide(CARD, VALUES, range(5)), "nats") == (
        "A minus B is above 0: 1.04 nats (0.88 to 1.2), agrees."
    )
    near = decide(replace(CARD, rules=(higher("A", "B", by=1),)), VALUES, range(5))
    assert in_words(near) == "A minus B is at least 1: 1.04 (0.88 to 1.2), undecided; about 39 seeds would decide."
    one = decide(CARD, {"A": [2.0], "B": [1.0]}, range(1))
    assert in_words(one) == "A minus B is above 0: 1, undecided; one seed says nothing about the noise."


def test_a_file_brings_the_verdict_back(tmp_path):
    verdict = decide(CARD, VALUES, range(5), 12.3456, {"A": ["run"] * 5, "B": [""] * 5})
    assert read(write(CARD, verdict, tmp_path)) == verdict
    assert verdict["seconds"] == 12.35


def test_a_rule_that_is_changed_after_its_verdict_needs_a_line_that_says_why(tmp_path):
    write(CARD, decide(CARD, VALUES, range(5)), tmp_path)
    other = replace(CARD, rules=(higher("A", "B", by=0.5),))
    with pytest.raises(UserError, match=r"rule of T1 changed after its verdict .* history"):
        write(other, decide(other, VALUES, range(5)), tmp_path)
    said = replace(other, history=("The paper means half a point.",))
    written = read(write(said, decide(said, VALUES, range(5)), tmp_path))
    assert [each["fingerprint"] for each in written["earlier"]] == [CARD.fingerprint]
    third = replace(said, seeds=4)
    with pytest.raises(UserError, match="history"):
        write(third, decide(third, VALUES, range(5)), tmp_path)


def test_the_same_rule_may_be_run_again(tmp_path):
    write(CARD, decide(CARD, VALUES, range(5)), tmp_path)
    again = read(write(CARD, decide(CARD, VALUES, range(5)), tmp_path))
    assert "earlier" not in again
