"""`playground claims`: the list, a card, a run with its files, a variant, and what is refused."""

import csv
import json

import pytest

from playground.claims import claims
from playground.claims.verdict import shipped
from playground.cli import main
from tests import json_keys

QUICK = "K059"
"""A card that trains nothing."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path / "home"))


def said(capsys, *words, status=0):
    capsys.readouterr()
    assert main(["claims", *words]) == status
    return capsys.readouterr()


def test_every_card_is_listed_with_verdict_effect_interval_seeds_and_seconds(capsys):
    facts = json_keys.read("claims", said(capsys, "--json").out)["claims"]
    assert [each["name"] for each in facts] == list(claims())
    for each in facts:
        if (verdict := shipped().get(each["name"])) is not None:
            assert each["verdict"] == verdict["call"]
            assert each["effect"] == verdict["rules"][0]["difference"]
            assert each["seconds"] == verdict["seconds"]
    listed = said(capsys).out
    assert all(each["title"] in listed for each in facts)


def test_a_card_says_its_rule_before_anything_is_run(capsys):
    printed = said(capsys, "K040").out
    assert "MLM minus LM is at least 0.5 (5 seeds)" in printed
    assert "if not" in printed


def test_a_claim_is_run_and_written_as_file_and_table(capsys, tmp_path):
    printed = said(capsys, "run", QUICK, "--out", str(tmp_path / "out"), "--csv", str(tmp_path / "table.csv"), "--json")
    facts = json_keys.read("claims", printed.out)
    [card] = facts["claims"]
    assert card["verdict"] == "agrees"
    assert facts["files"] == [str(tmp_path / "out" / f"{QUICK}.json")]
    assert json.loads((tmp_path / "out" / f"{QUICK}.json").read_text(encoding="utf-8")) == card["details"]
    [row] = csv.DictReader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines())
    assert row["verdict"] == "agrees"


def test_a_variant_is_run_beside_the_card(capsys):
    printed = said(capsys, "run", QUICK, "--set", "seeds=1", "--set", "content, token 2.figure=content 2: 1 2 3 4").out
    assert "disagrees" in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run",), "Name the claims to run, or --all."),
        (("run", QUICK, "--all"), "--all runs every claim; leave out the names."),
        (("run", QUICK, "K040", "--set", "seeds=1"), "--set turns the knobs of one claim, not of 2; name one."),
        (("run", QUICK, "--set", "seeds=1", "--out", "x"), "--out writes the verdicts of unchanged cards"),
        (("run", QUICK, "--set", "speed=1"), "There is no knob 'speed'"),
        (("run", "K999"), "There is no claim named 'K999'"),
        (("--workers", "2"), "--workers does not apply here: nothing is run"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(capsys, words, sentence):
    assert sentence in said(capsys, *words, status=2).err
