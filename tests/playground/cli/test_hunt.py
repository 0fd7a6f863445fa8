"""`playground hunt`: the cases, both runs of one, an answer, and the grades of a class."""

import json
from dataclasses import replace

import pytest

from playground.cli import hunt as command
from playground.cli import main
from playground.hunt.grading import answer_key, cases
from tests import json_keys

NAME = cases()[1].name


def said(capsys, *words, status=0):
    capsys.readouterr()
    assert main(["hunt", *words]) == status
    return capsys.readouterr()


def test_the_cases_are_listed_without_their_answers(capsys):
    facts = json_keys.read("hunt", said(capsys, "--json").out)
    assert [each["case"] for each in facts["cases"]] == list(cases())
    assert facts["key"] == answer_key()
    assert facts["answers"] == sorted(fault.name for fault in cases().values())


def test_both_runs_of_a_case_are_trained(capsys, monkeypatch):
    short = {1: replace(cases()[1], steps=3)}
    monkeypatch.setattr(command, "case_of", short.__getitem__)
    facts = json_keys.read("hunt", said(capsys, "1", "--seed", "2", "--json").out)
    assert facts["sound"].keys() == facts["suspect"].keys()
    assert len(facts["shown"]) == 2


def test_an_answer_is_graded(capsys):
    right = json_keys.read("hunt", said(capsys, "1", "--answer", NAME, "--json").out)
    assert right["right"]
    assert right["thread"].startswith("https://github.com/")
    if len(cases()) > 1:
        assert said(capsys, "1", "--answer", cases()[2].name).out.strip() == "That is not it."


def test_a_teacher_gets_a_table(capsys, tmp_path):
    for name, answer in (("ann", NAME), ("bob", "something else")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"case 1": answer}), encoding="utf-8")
    files = [str(tmp_path / f"{name}.json") for name in ("ann", "bob")]
    printed = said(capsys, "--check", *files, "--csv", str(tmp_path / "grades.csv"), "--json")
    assert [each["right"]["case 1"] for each in json_keys.read("hunt", printed.out)["grades"]] == [True, False]
    rows = (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1:] == ["ann,1,1,0,0,0,0", "bob,0,1,0,0,0,0"]
    assert "ann          1/1      0/0      0/0" in said(capsys, "--check", *files).out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("99",), "There is no case 99; the cases are 1 to"),
        (("--csv", "x"), "--csv does not apply here: nothing is checked"),
        (("--answer", "x"), "--answer does not apply here: the cases are listed"),
        (("1", "--check", "x"), "does not apply here: answers are checked"),
        (("1", "--answer", "quantum noise"), "no fault named"),
        (("--check", "nowhere.json"), "holds no answers"),
    ],
)
def test_what_cannot_be_done_is_refused(capsys, words, sentence):
    assert sentence in said(capsys, *words, status=2).err
