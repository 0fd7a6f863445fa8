"""Grading: every right answer is accepted, wrong ones are not, in JSON and in notebooks, without running anything."""

import csv
import io
import json
import random

import pytest

from playground.errors import UserError
from playground.hunt.fault import faults
from playground.hunt.grading import METADATA, answer_key, case_of, cases, grade, is_right, mark, read_answers, table
from playground.hunt.questions import QUESTIONS

RIGHT = {f"case {number}": fault.name for number, fault in cases().items()}
ASKED = {f"before question {k}": each.right for k, each in enumerate(QUESTIONS, 1)}


def test_all_right_answers_are_accepted_however_they_are_spelt():
    key = answer_key()
    for name, answer in RIGHT.items():
        assert is_right(key, name, answer)
        assert is_right(key, name, f"  {answer.upper()}. ")


def test_sixty_wrong_answers_are_refused():
    rng, key, tried = random.Random(0), answer_key(), 0
    names = [*faults(), "a wrong learning rate", "no fault at all", "", "too few steps"]
    while tried < 60:
        name, answer = rng.choice([*RIGHT]), rng.choice(names)
        if answer != RIGHT[name]:
            tried += 1
            assert not is_right(key, name, answer)
    for k, each in enumerate(QUESTIONS, 1):
        assert [choice for choice in each.choices if is_right(key, f"question {k}", choice)] == [each.right]


def test_the_key_names_no_fault():
    assert not any(word in json.dumps(answer_key()) for name in faults() for word in name.split() if len(word) > 5)
    assert len(set(answer_key().values())) == len(faults()) + len(QUESTIONS)


def test_the_hash_is_fnv_1a():
    assert mark("a") == "e40c292c"
    assert mark("foobar") == mark("Foo Bar!") == "bf9cf968"


def test_answers_as_json_and_in_a_notebook_have_the_same_grade(tmp_path):
    answers = {**RIGHT, **ASKED, "after question 1": next(c for c in QUESTIONS[0].choices if c != QUESTIONS[0].right)}
    plain = tmp_path / "ann.json"
    plain.write_text(json.dumps(answers), encoding="utf-8")
    cells = [
        {"cell_type": "markdown", "source": ["answers = {'case 1': 'not this'}"]},
        {"cell_type": "code", "source": ["answers = {'case 1': 'a first try'}\n", "import os"]},
        {"cell_type": "code", "source": f"answers = {answers!r}"},
        {"cell_type": "code", "source": "this is no Python"},
    ]
    notebook = tmp_path / "bob.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": {METADATA: answer_key()}}), encoding="utf-8")
    grades = [read_answers(plain), read_answers(notebook)]
    assert grades[0].right == grades[1].right
    assert [each.learner for each in grades] == ["ann", "bob"]
    rows = [*csv.DictReader(io.StringIO(table(grades)))]
    assert rows[1]["cases right"] == rows[1]["cases answered"] == str(len(RIGHT))
    assert (rows[0]["before right"], rows[0]["after right"], rows[0]["after answered"]) == ("8", "0", "1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "holds no answers"),
        ("{", "holds no answers"),
        ('{"cells": [], "metadata": {}}', "holds no answers"),
        ('{"case 99": "x"}', "There is no 'case 99'"),
    ],
)
def test_a_file_without_answers_is_refused(content, said, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_answers(path)


def test_an_answer_that_is_no_text_is_wrong_and_code_is_never_run(tmp_path):
    assert grade("a", {"case 1": 3}).right == {"case 1": False}
    path = tmp_path / "c.ipynb"
    cells = [{"cell_type": "code", "source": "answers = {'case 1': open('x', 'w').write('ran')}"}]
    path.write_text(json.dumps({"cells": cells, "metadata": {METADATA: answer_key()}}), encoding="utf-8")
    with pytest.raises(UserError, match="not plain texts"):
        read_answers(path)


def test_a_case_that_is_not_there_is_refused():
    with pytest.raises(UserError, match=f"the cases are 1 to {len(RIGHT)}"):
        case_of(0)
