"""A folder of transformers that was imported as a run is found on the pages like every kept run."""

import math
import os
from dataclasses import replace
from functools import partial

import pytest
import torch
import transformers as hf

from playground import cli
from playground.corpora import open_corpus, sources
from playground.interop import export
from playground.interop.tokenizer_file import read_tokenizer
from playground.models import Architecture
from playground.models.model import NO_LM_HEAD
from playground.objectives import find_objective
from playground.tokenizing import train as train_tokenizer
from playground.training.own_text import corpus_of
from playground.training.train_state import TrainState
from playground.zoo import entry_for
from tests.playground.interop.forms import OURS
from tests.playground.interop.vocabularies import FORMS
from tests.runs import becomes, reviews
from widgets.pages.base_model import describe_base
from widgets.pages.transfer.page import TransferPage
from widgets.state.app import KEPT, Store
from widgets.state.stage import loaded_model
from widgets.state.transfer.store import base_of_session


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr(sources, "open_corpus", partial(open_corpus, tokens=6_000))


def folder_of(name, path, **changed):
    """A folder of one family with random weights and the words of the reviews in pieces."""
    text = reviews().tokenizer.join(reviews().ids[:4_000].tolist()).replace("[SEP]", " ")
    name, _, published = name.partition(", ")
    tokenizer = published_words(name, text, path) if published else train_tokenizer([text], "wordpiece", 200)
    shape: Architecture = replace(OURS[name], **{"max_position_embeddings": 64, **changed})
    known = {"GPT-2": "LM", "XLNet": "PLM", "BART": "text infilling", "T5": "T5"}
    objective = find_objective(known.get(name, "MLM"))
    entry = replace(entry_for(objective), model=shape)
    learner = TrainState.new(entry, tokenizer.words, 0, torch.device("cpu"))
    export(learner, tokenizer, path, name)
    return learner.model, tokenizer


def published_words(name, text, path):
    """A tokenizer in the form of a released one, learnt from the text; its ids are its own."""
    library, folder = FORMS[name]([text]), path.with_name("words")
    folder.mkdir()
    library.save(str(folder / "tokenizer.json"))
    return read_tokenizer(folder, {"decoder_start_token_id": 0} if name == "T5" else {}, library.get_vocab_size())


@pytest.fixture(params=["BERT", "GPT-2", "XLNet", "BART", "BERT, published", "GPT-2, published", "T5, published"])
def imported(request, tmp_path):
    """The store of the app after `playground import --save`, with the model that was exported."""
    model, tokenizer = folder_of(request.param, tmp_path / "folder")
    assert cli.main(["import", "folder", "--save", "runs/ours", "--corpus", "reviews", "--runs", "runs"]) == 0
    store = Store(tmp_path / "runs", page=1)
    yield store, model, tokenizer
    store.train.leave()


def test_it_stands_in_the_list_with_its_held_out_loss(imported):
    store, _, tokenizer = imported
    [run] = store.train.kept()
    assert (run.name, run.state, run.step) == ("ours", "steps", 0)
    assert run.corpus.startswith("reviews in the vocabulary of ") and 0 < run.held_out < math.log(len(tokenizer)) + 1
    saved = store.train.runs.load("ours")
    assert saved.tokenizer == tokenizer and corpus_of(saved).hash == saved.corpus.hash


def test_it_is_opened_on_the_train_page_and_goes_on_learning(imported):
    store, model, _ = imported
    session = store.train.open("ours")
    assert store.train.trouble == "" and store.train.session is session
    ours, theirs = session.learner.model.state_dict(), model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    session.step()
    assert becomes(lambda: session.learner is not None and session.learner.step == 1)
    session.stop()
    assert session.error == ""


def test_its_attention_and_its_guesses_are_on_the_stage(imported):
    store, model, _ = imported
    store.train.open("ours")
    stage, name = store.stage, store.train.session.learner.objective.name
    stage.objective = name
    loaded_model.attach_trained(stage)
    assert stage.model is not None and stage.model.name.endswith("as it was imported")
    said = stage.record()["numbers"]
    assert said["guesses"] and said["attention"] and "as it was imported" in said["model"]
    assert {shown["layers"] for shown in said["attention"].values()} <= {model.shape.layers, model.shape.decoder_layers}


def test_an_encoder_alone_shows_its_attention_and_says_why_it_makes_no_guesses(tmp_path):
    folder_of("BERT", tmp_path / "folder", lm_head=False)
    assert cli.main(["import", "folder", "--save", "runs/alone", "--corpus", "reviews", "--runs", "runs"]) == 0
    store = Store(tmp_path / "runs", page=1)
    store.train.open("alone")
    stage = store.stage
    stage.objective = "MLM"
    loaded_model.attach_trained(stage)
    said = stage.record()["numbers"]
    assert said["attention"] and not said["guesses"] and said["captions"]["predict"] == stage.silent == NO_LM_HEAD
    store.train.session.step()
    assert becomes(lambda: store.train.session.error == NO_LM_HEAD)
    store.train.leave()


@pytest.mark.parametrize("then", [[], ["topic"]])
def test_an_encoder_alone_is_compared_without_pictures_of_forgetting(tmp_path, then):
    folder_of("BERT", tmp_path / "folder", lm_head=False)
    assert cli.main(["import", "folder", "--save", "runs/alone", "--corpus", "reviews", "--runs", "runs"]) == 0
    store = Store(tmp_path / "runs", page=2)
    page = TransferPage(store)
    results = page.views[0]
    panes = [results.lost_pane(), results.moving.panes()["forgetting"], results.in_turn.lost_pane()]
    assert all(pane.visible for pane in panes)
    store.transfer.param.update(
        base=f"{KEPT}:alone", chosen=["full", "adapters"], seeds=1, steps=10, train_size=8, then=then
    )
    assert store.transfer.begin(store.base), store.transfer.trouble
    assert becomes(lambda: store.transfer.trials.state == "done")
    page.poll()
    assert [pane.visible for pane in panes] == ([True, True, False] if then else [False, False, True])
    shown = results.in_turn.tables.object if then else results.numbers.object
    assert "pre-training loss by –." in shown if then else shown.count("<td>–</td>") == 2
    assert "Forgetting is not measured." in (results.verdict.object if then else shown)
    store.close()


def test_it_is_a_base_on_the_transfer_page(imported):
    store, model, tokenizer = imported
    assert f"{KEPT}:ours" in store.bases().values()
    store.transfer.base = f"{KEPT}:ours"
    assert store.base is not None and store.transfer.trouble == ""
    assert ", as it was imported<" in describe_base(store)
    base, words = base_of_session(store.base)
    ours, theirs = base.learner.model.state_dict(), model.state_dict()
    assert words == tokenizer and all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert base.learner.evaluate(base.measured)


def test_what_transformers_itself_saved_is_found_too(tmp_path, capsys):
    """A model with random weights and its tokenizer, written by `save_pretrained`."""
    _, tokenizer = folder_of("BERT", tmp_path / "words")
    hf.PreTrainedTokenizerFast.from_pretrained("words").save_pretrained("theirs")
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=40, pad_token_id=0,
    )  # fmt: skip
    hf.BertForMaskedLM(config).save_pretrained("theirs")
    assert cli.main(["import", "theirs", "--save", "runs/theirs", "--corpus", "reviews", "--runs", "runs"]) == 0
    store = Store(tmp_path / "runs", page=1)
    session = store.train.open("theirs")
    assert store.train.trouble == "" and session.learner.model.shape.layers == 2
    store.train.leave()


def test_a_run_that_is_saved_elsewhere_is_listed_by_its_path(tmp_path):
    folder_of("BERT", tmp_path / "folder")
    assert cli.main(["import", "folder", "--save", "elsewhere/mine", "--corpus", "reviews", "--runs", "runs"]) == 0
    store = Store(tmp_path / "runs")
    assert [run.name for run in store.train.kept()] == ["elsewhere/mine"]
