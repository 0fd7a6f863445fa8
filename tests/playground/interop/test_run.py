"""What was read from a folder as a run, and the two commands."""

import math
from dataclasses import replace

import pytest
import torch

from playground.cli import main
from playground.interop import export, open_folder
from playground.interop.run import save_run
from playground.models import LanguageModel
from playground.models.model import NO_LM_HEAD
from playground.training import checkpoint
from playground.training.store.runs import Runs
from tests import json_keys
from tests.playground.interop.forms import OURS, SIZE, TOKENIZER, our_model, rng
from tests.runs import reviews, sampled


@pytest.mark.parametrize("name", sampled(OURS, ("BERT", "GPT-2", "T5")))
def test_every_family_can_be_saved_as_a_run_that_is_evaluated(name, tmp_path):
    model = our_model(name)
    export(model, TOKENIZER, tmp_path / "out", name)
    saved = checkpoint.load(save_run(open_folder(tmp_path / "out"), tmp_path / "run")[0])
    losses = saved.learner.evaluate(saved.corpus.held_out)
    assert saved.tokenizer == TOKENIZER and losses and all(value >= 0 for value in losses.values())
    export(saved.learner, saved.tokenizer, tmp_path / "again", name)
    first, second = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in ("out", "again"))
    assert first == second


def test_the_commands_write_and_read_a_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, folder = str(tmp_path / "run"), str(tmp_path / "folder")
    assert main(["train", "BERT", "--recipe", "paper", "--steps", "1", "--out", run, "--set", "width=16"]) == 0
    capsys.readouterr()
    assert main(["export", run, folder, "--json"]) == 0
    told = json_keys.read("export", capsys.readouterr().out)
    assert (told["family"], told["class"]) == ("BERT", "BertForPreTraining")
    assert main(["import", folder, "--save", str(tmp_path / "again"), "--json"]) == 0
    card = json_keys.read("import", capsys.readouterr().out)
    assert card["architecture"]["width"] == 16 and card["vocabulary"] == told["vocabulary"] and not card["absent"]
    assert main(["export", str(tmp_path / "again"), str(tmp_path / "third")]) == 0
    assert main(["import", folder]) == 0
    assert "BERT (arXiv:1810.04805" in capsys.readouterr().out


@pytest.mark.parametrize("factor", [10.0, 0.01])
def test_a_loss_that_is_worse_than_guessing_is_said(factor, tmp_path, capsys):
    model = our_model("BERT")
    with torch.no_grad():
        model.token_embedding.weight.mul_(factor)
        model.lm_head.bias.mul_(factor)
    export(model, TOKENIZER, tmp_path / "out", "BERT")
    assert main(["import", str(tmp_path / "out"), "--save", str(tmp_path / "run"), "--runs", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert (f"far above that of guessing (ln {SIZE} = {math.log(SIZE):.2f})" in told) == (factor == 10.0)


def test_an_encoder_alone_is_saved_shown_and_compared_and_says_what_it_lacks(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = LanguageModel(replace(OURS["BERT"], lm_head=False), len(reviews().tokenizer), rng())
    export(model, reviews().tokenizer, tmp_path / "out")
    assert main(["import", "out", "--save", "run", "--corpus", "reviews", "--runs", "runs"]) == 0
    assert capsys.readouterr().out.strip().endswith(NO_LM_HEAD)
    [run] = Runs("runs").all()
    assert run.held_out is None and run.state == "steps"
    compared = ["compare", "run", "--task", "sentiment", "--strategies", "full,feature-based", "--train-size", "16"]
    assert main([*compared, "--seeds", "1", "--tuning-steps", "2"]) == 0
    assert NO_LM_HEAD in capsys.readouterr().err
    assert main(["train", "--fork", "run", "--runs", "runs", "--steps", "1", "--out", "on"]) == 2
    assert NO_LM_HEAD in capsys.readouterr().err
    assert main(["export", "run", "again"]) == 0
    first, second = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in ("out", "again"))
    assert first == second


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["import", "nowhere"], "no config.json in nowhere"),
        (["export", "nowhere", "out"], "no run in nowhere"),
    ],
)
def test_the_commands_refuse_in_one_sentence(words, told, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert told in captured.err and not captured.out and captured.err.count("\n") == 1
