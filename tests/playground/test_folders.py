"""Where runs and caches are kept."""

from pathlib import Path

import pytest

from playground.folders import cache_folder, run_folder, run_name, runs_folder


def test_runs_and_caches_are_kept_in_the_users_folders(monkeypatch, tmp_path):
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.delenv("PLAYGROUND_HOME", raising=False)
    elsewhere = tmp_path / "shell"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for folder in (runs_folder(), cache_folder("corpora")):
        assert folder.is_absolute() and "pretraining-playground" in folder.parts
        assert elsewhere not in folder.parents


@pytest.mark.parametrize("home", ["here", "/here"])
def test_the_environment_moves_both(monkeypatch, tmp_path, home):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLAYGROUND_HOME", home)
    assert (runs_folder(), cache_folder("corpora")) == (tmp_path / home / "runs", tmp_path / home / "corpora")


def test_a_run_is_named_by_its_path_or_by_its_name_in_the_list(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLAYGROUND_HOME", "home")
    (tmp_path / "home" / "runs" / "BERT-world-seed0").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    assert [run_name(Path(run_folder(name)).absolute()) for name in ("BERT-world-seed0", "mine")] == [
        "BERT-world-seed0",
        str(tmp_path / "mine"),
    ]
    assert run_folder("mine") == "mine"
    assert run_folder("BERT-world-seed0") == str(tmp_path / "home" / "runs" / "BERT-world-seed0")
    assert run_folder("BERT") == "BERT"
