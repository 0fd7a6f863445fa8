"""`playground inspect` on a run, on its checkpoint and on a folder of transformers."""

from pathlib import Path

import pytest

from playground.analysis.instrument import instruments
from playground.cli import main
from playground.interop.subjects import open_subject
from tests import json_keys

TEXT = "The old sailor told the children a story about a ship that never came back from the sea . " * 60
SMALL = ("--set", "width=16", "--set", "heads=2", "--set", "layers=2", "--steps", "2")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    text = folder / "story.txt"
    text.write_text(TEXT, encoding="utf-8")
    made = ("train", "RoBERTa", "--corpus", str(text), "--runs", str(folder), "--out", str(folder / "one"))
    assert main([*made, *SMALL]) == 0
    return folder


def said(capsys, *words):
    capsys.readouterr()
    assert main(["inspect", *words]) == 0
    return capsys.readouterr().out


def test_the_list_names_every_instrument_with_its_question(capsys):
    listed = said(capsys, "--list")
    assert all(each.name in listed and each.question in listed for each in instruments().values())


def test_a_run_its_checkpoint_and_json_say_the_same(capsys, runs):
    asked = ("--with", "heads one by one", "--set", "texts=2", "--json", "--runs", str(runs))
    facts = [json_keys.read("inspect", said(capsys, which, *asked)) for which in ("one", str(runs / "one"))]
    (by_name,), (by_path,) = (each["inspections"] for each in facts)
    [found] = by_name["found"].values()
    assert [found] == list(by_path["found"].values()) and by_name["settings"]["texts"] == 2
    assert len(found["tables"][0]["columns"]["head"]) == 4


def test_tables_are_written_as_csv(capsys, runs, tmp_path):
    printed = said(capsys, "one", "--runs", str(runs), "--with", "attention", "--csv", str(tmp_path / "csv"))
    files = sorted((tmp_path / "csv").iterdir())
    assert len(files) == 2 and all(str(file) in printed for file in files)
    assert files[0].read_text(encoding="utf-8").startswith("layer,head,query,key,weight,pattern\n1,1,1 The,1 The,0.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("one", "--with", "attenton"), "attention"),
        (("one", "--with", "attention", "--set", "depth=1"), "There is no knob 'depth'"),
        (("nowhere",), "nowhere"),
        (("one", "two", "--list"), "--list says what one model lacks, not 2; name one RUN"),
    ],
)
def test_what_is_wrong_is_refused_in_a_sentence(capsys, runs, words, sentence):
    assert main(["inspect", *words, "--runs", str(runs)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_folder_of_transformers_is_opened_in_its_own_words(runs, tmp_path):
    folder = Path(tmp_path) / "exported"
    made = ("train", "BERT", "--recipe", "paper", "--corpus", "world", "--runs", str(tmp_path))
    assert main([*made, "--out", str(tmp_path / "bert"), "--steps", "1", "--set", "width=16", "--set", "heads=2"]) == 0
    assert main(["export", str(tmp_path / "bert"), str(folder)]) == 0
    subject = open_subject(str(folder))
    found = instruments()["attention"].look(subject)
    assert found.tables[0].columns["layer"].names == ("1", "2")
    assert "in the vocabulary of exported" in subject.corpus.name
