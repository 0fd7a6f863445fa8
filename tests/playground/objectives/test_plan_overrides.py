"""Plans by hand: what is typed, what a file holds, and what is refused with the value that was given."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.cli import main
from playground.errors import UserError
from playground.objectives import plan_overrides
from playground.tokenizing import train
from playground.trace.rebuild import SENTENCE, rebuild, table


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chosen", [1.9]),
        ("chosen", [True]),
        ("chosen", {"1": 5}),
        ("chosen", [float("inf")]),
        ("chosen", [None]),
        ("cut", 2.9),
        ("cut", float("nan")),
        ("cut", [1, 2]),
        ("cut", "1,1"),
        ("cut", ""),
        ("cut", "9" * 5000),
        ("spans", [[1.9, 1]]),
        ("spans", [{"2": 1, "4": 1}]),
        ("spans", ["2"]),
        ("replace", [None]),
        ("replace", [""]),
        ("replace", ["a\nb"]),
        ("labelled", True),
        ("pair", ["next", "random"]),
    ],
)
def test_a_value_of_another_kind_is_refused_and_shown(key, value):
    with pytest.raises(UserError) as refused:
        plan_overrides.read(key, value)
    assert f"The plan {key} is {plan_overrides.short(value)}; it must be " in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("cut", 2.0, 2),
        ("cut", "2", 2),
        ("chosen", "3,8", [3, 8]),
        ("chosen", [], []),
        ("chosen", "[]", []),
        ("spans", [[2, 1], "5:2"], [(2, 1), (5, 2)]),
        ("marks", "[MASK],walk", ["[MASK]", "walk"]),
        ("marks", "[MASK]", ["[MASK]"]),
        ("replace", '[",","3,000"]', [",", "3,000"]),
        ("replace", "thrilled, study", ["thrilled", "study"]),
    ],
)
def test_a_value_is_read_as_typed_or_as_a_file_holds_it(key, value, wanted):
    assert plan_overrides.read(key, value) == wanted


words = st.text(st.sampled_from('ab,;"[]=\\ é'), min_size=1, max_size=4).filter(str.strip)


@settings(max_examples=200)
@given(replace=st.lists(words, min_size=1, max_size=4), chosen=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_a_plan_that_is_written_is_read_back_whatever_its_words_hold(replace, chosen):
    plan = {"chosen": chosen, "replace": replace, "cut": 3}
    if all(word.strip() == word and not word.startswith("[") for word in replace):
        assert plan_overrides.parse(plan_overrides.settings_of(plan_overrides.write(plan))) == plan


def test_settings_are_cut_at_spaces_and_semicolons():
    line = 'chosen=3,8;cut=3  marks=[MASK],walk; replace=[";","b c"] x'
    assert plan_overrides.settings_of(line) == ["chosen=3,8", "cut=3", "marks=[MASK],walk", 'replace=[";","b c"]', "x"]


def test_a_described_cut_inside_the_last_word_is_read_back():
    pieces = train(["I am happy to join with you today . We walk here now ."] * 3, "bpe", size=60)
    for seed in range(8):
        told = rebuild("seq2seq LM", "I am happy", seed=seed, tokenizer=pieces).facts()["plan"]
        rebuild("seq2seq LM", "I am happy", seed=seed, tokenizer=pieces, overrides=told)


@pytest.mark.parametrize(("text", "right"), [("hello", "so only 1 is possible"), ("hello there", "between 1 and 1")])
def test_a_cut_behind_the_text_is_refused(text, right):
    with pytest.raises(UserError, match=f"The split is 3; .*{right}"):
        rebuild("seq2seq LM", text, overrides={"split": 3})


@pytest.mark.parametrize("settings_", [{"overrides": {"chosen": [2]}}, {"settings": {"threshold": 0.001}, "seed": 3}])
@pytest.mark.parametrize("name", ["CBOW", "CBOW NS"])
def test_what_is_given_is_described_where_words_are_dropped(name, settings_):
    facts = rebuild(name, "hello there you and me", **settings_).facts()
    assert len(facts["survey"]["inputs"].split()) <= len(facts["inputs"])


SENTENCES = "I am here . You are there . We go now . They stay ."


@pytest.mark.parametrize(
    ("name", "text", "wanted", "reason"),
    [
        (
            "T5 spans",
            "hello there",
            {"spans": ["2:1"], "marks": ["thrilled"]},
            "the markers are numbered; set marker to mask",
        ),
        ("BART mixture", SENTENCES, {"sentences": [1, 2, 3, 4], "order": [2, 1, 3, 4]}, r"give one of them\."),
    ],
)
def test_a_plan_that_would_be_bent_is_refused(name, text, wanted, reason):
    with pytest.raises(UserError, match=reason):
        rebuild(name, text, overrides=wanted)


@pytest.mark.parametrize(
    ("plans", "reason"),
    [
        (
            {"whole word masking": {"chosen": "1"}},
            "whole word masking is no row of the survey's table; its rows are LM",
        ),
        ({"": {"labelled": "yes"}}, "No row of the table has the plan key 'labelled'"),
        ({"": {"chosen": "zzz"}}, "The plan chosen is 'zzz'"),
        ({"MLM": {"chosen": "zzz"}}, "The plan chosen is 'zzz'"),
    ],
)
def test_a_plan_for_the_table_must_be_for_a_row_of_it(plans, reason):
    with pytest.raises(UserError, match=reason):
        table(plans=plans)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"chosen": [1e999]}', '{"chosen": [Infinity]}', "[1]", "x"])
def test_a_file_without_a_plan_is_refused_in_one_sentence(content, tmp_path, capsys):
    (tmp_path / "plan").write_text(content, encoding="utf-8")
    assert main(["objective", "MLM", "--plan", f"@{tmp_path / 'plan'}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_second_text_that_is_not_read_is_said(capsys):
    assert main(["objective", "MLM", "--text", "I am here", "--pair", "You are there", "--json"]) == 0
    assert "MLM reads one text, so --pair has no part in it." in json.loads(capsys.readouterr().out)["notice"]
    assert main(["objective", "NSP", "--text", "I am here", "--pair", "You are there", "--json"]) == 0
    assert "no part" not in json.loads(capsys.readouterr().out)["notice"]


def test_a_second_text_alone_goes_with_the_sentence_of_the_survey(capsys):
    assert main(["objective", "NSP", "--pair", "You are there", "--plan", "pair=next", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["inputs"] == ["[CLS]", *SENTENCE.split(), "[SEP]", *"You are there [SEP]".split()]
    assert (said["text"], said["pair"]) == (SENTENCE, "You are there")


def test_a_text_is_typed_or_read_from_a_file_not_both(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["objective", "MLM", "--text", "a", "--file", "b"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "form"),
    [("ascii", []), ("cp1252", ["--json"]), ("utf-8:strict", []), ("utf-8:surrogateescape", ["--json"])],
)
def test_every_letter_can_be_printed_on_every_terminal(encoding, form):
    """Whatever stands in the text, half characters too, and whatever the terminal can write."""
    command = [sys.executable, "-m", "playground", "objective", "MLM", "--text", b"caf\xe9 \xc3\xa9 x", *form]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    if form:
        assert json.loads(done.stdout.decode("utf-8"))["text"] == "caf? é x"
