"""`playground bake`: what it says, what it refuses, and what a folder then holds."""

import os
from pathlib import Path

import pytest

from playground.cli import main
from playground.training import train
from playground.training.observe.replay import load, watched
from playground.training.store.metrics import recorded
from tests import json_keys
from tests.runs import reviews, run_of


def test_bake_tells_what_it_wrote_and_refuses_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run = tmp_path, run_of(steps=40, out=tmp_path / "run")
    for _ in watched(run, recorded(run, train(run))):
        pass
    assert main(["bake", str(folder / "run"), "-o", str(folder / "again.html"), "--json"]) == 0
    facts = json_keys.read("bake", capsys.readouterr().out)
    assert facts["moments"] == len(facts["steps"]) == 41 and facts["bytes"] < 3_000_000
    for arguments, said in (
        ([str(folder), "-o", str(folder / "x.html")], "recorded no replay"),
        ([str(folder / "run"), "-o", str(folder)], "cannot be written"),
        (
            [str(folder / "run"), "-o", str(folder / "x.html"), "--steps", "5"],
            "--steps does not apply here: it is for an entry to train first",
        ),
        (["nobody", "-o", str(folder / "x.html")], "nobody"),
    ):
        assert main(["bake", *arguments]) == 2
        assert said in capsys.readouterr().err


def test_an_entry_is_trained_first_and_watched_on_the_given_sentence(tmp_path: Path) -> None:
    corpus = reviews()
    (tmp_path / "reviews.txt").write_text(corpus.tokenizer.join(corpus.ids[:4000].tolist()), encoding="utf-8")
    text, out = str(tmp_path / "reviews.txt"), str(tmp_path / "run")
    given = ["--corpus", text, "--out", out, "--sentence", "the movie was good"]
    made = ["--steps", "2", "--set", "layers=4", "--set", "width=16", "--set", "heads=4", "--set", "seq_len=16"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        patch.chdir(tmp_path)  # where the list of runs is kept
        assert main(["bake", "RoBERTa", "-o", str(tmp_path / "x.html"), *given, *made]) == 0
    replay = load(tmp_path / "run")
    assert replay.record["text"] == ["the", "movie", "was", "good"]
    assert replay.attention["encoder"].shape[:3] == (3, 4, 4)
    assert (tmp_path / "x.html").stat().st_size < 3_000_000
