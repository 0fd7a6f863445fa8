"""Folders that cannot be used, and models that no family has: one sentence each, with the value that is wrong."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from playground.errors import UserError
from playground.interop import export, open_folder
from playground.models import Architecture, LanguageModel
from tests.playground.interop.forms import OURS, SIZE, TOKENIZER, our_model, rng


@pytest.fixture
def folder(tmp_path):
    export(our_model("BERT"), TOKENIZER, tmp_path / "bert")
    return tmp_path / "bert"


def change(path, **keys):
    """Write a JSON file with other values; None removes a key."""
    whole = {**json.loads(path.read_text()), **keys}
    path.write_text(json.dumps({k: v for k, v in whole.items() if v is not None}))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "LlamaForCausalLM"),
        ({"architectures": ["BertForTokenClassification"]}, "BertForMaskedLM"),
        ({"architectures": None}, "None"),
        ({"model_type": "llama"}, "llama"),
        ({"hidden_size": float("nan")}, "hidden_size: nan"),
        ({"hidden_size": 10**12}, "1000000000000"),
        ({"hidden_size": "wide"}, "hidden_size: 'wide'"),
        ({"hidden_size": None}, "768"),
        ({"num_hidden_layers": 10**9}, "1000000000"),
        ({"num_hidden_layers": "two"}, "'two'"),
        ({"num_hidden_layers": True}, "True"),
        ({"num_hidden_layers": 3}, "missing"),
        ({"num_hidden_layers": 1}, "left over"),
        ({"num_attention_heads": 3}, "3 heads"),
        ({"vocab_size": -1}, "vocab_size: -1"),
        ({"vocab_size": SIZE + 1}, f"[{SIZE}, 16]"),
        ({"intermediate_size": 33}, "[33, 16]"),
        ({"intermediate_size": -2}, "intermediate_size: -2"),
        ({"layer_norm_eps": float("inf")}, "inf"),
        ({"hidden_act": "silu"}, "silu"),
        ({"is_decoder": True}, "is_decoder: True"),
        ({"architectures": [{}]}, "architectures [{}]"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings: 'no'; what can be read is true or false"),
        ({"pad_token_id": "0"}, "pad_token_id: '0'; it must be a whole number"),
        ({"pad_token_id": 1.5}, "pad_token_id: 1.5"),
        ({"decoder_start_token_id": SIZE}, f"decoder_start_token_id: {SIZE}; it must be from 0 to {SIZE - 1}"),
        ({"tie_word_embeddings": False}, "cls.predictions.decoder.weight"),
        ({"max_position_embeddings": 2**40}, "max_position_embeddings"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(folder, keys, told):
    change(folder / "config.json", **keys)
    with pytest.raises(UserError) as refusal:
        open_folder(folder)
    assert told in str(refusal.value)


def test_weights_that_do_not_fit_are_refused(folder):
    file = folder / "model.safetensors"
    good = load_file(file)
    name = "bert.encoder.layer.0.attention.self.key.weight"
    others = {
        "missing": {k: v for k, v in good.items() if k != name},
        "left over": good | {"bert.extra.weight": torch.zeros(2)},
        "shape [2, 2]": good | {name: torch.zeros(2, 2)},
        "not finite": good | {name: good[name] * float("nan")},
        "type I64": good | {name: good[name].long()},
        "differ": good | {"cls.predictions.decoder.bias": torch.zeros(SIZE)},
    }
    for told, tensors in others.items():
        save_file(tensors, file)
        with pytest.raises(UserError, match=told.replace("[", r"\[")):
            open_folder(folder)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UserError, match="damaged or cut short"):
        open_folder(folder)
    file.rename(folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="can carry code"):
        open_folder(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(UserError, match=r"no model\.safetensors"):
        open_folder(folder)
    (folder / "config.json").write_text('{"a": ')
    with pytest.raises(UserError, match="no JSON"):
        open_folder(folder)
    with pytest.raises(UserError, match=r"no config\.json"):
        open_folder(folder / "nowhere")


def test_weights_in_several_files_are_read_and_names_that_lead_elsewhere_are_not(folder):
    tensors, index = load_file(folder / "model.safetensors"), folder / "model.safetensors.index.json"
    (folder / "model.safetensors").unlink()
    parts = {name: f"model-0000{1 + k % 2}-of-00002.safetensors" for k, name in enumerate(sorted(tensors))}
    for file in set(parts.values()):
        save_file({name: value for name, value in tensors.items() if parts[name] == file}, folder / file)
    index.write_text(json.dumps({"weight_map": parts}))
    ours = our_model("BERT").state_dict()
    assert all(torch.equal(value, ours[name]) for name, value in open_folder(folder).model.state_dict().items())
    for wrong in ("../other.safetensors", "/etc/passwd", "gone.safetensors", 3):
        index.write_text(json.dumps({"weight_map": dict.fromkeys(parts, wrong)}))
        with pytest.raises(UserError, match="cannot be used"):
            open_folder(folder)


def test_a_file_that_is_too_large_for_the_memory_is_refused(folder, monkeypatch):
    monkeypatch.setattr("playground.interop.weights.available", lambda device: 1000)
    with pytest.raises(UserError, match="of memory"):
        open_folder(folder)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"positions": "rotary"}, "positions is rotary, not learned"),
        ({"norm_first": True}, "norm_first is yes, not no"),
        ({"sbo_head": True}, "sbo_head is yes"),
        ({"kind": "lstm"}, "kind is lstm"),
        ({"labels": (("mood", 3),)}, "mood"),
        ({"languages": 2}, "languages"),
    ],
)
def test_a_model_of_another_form_is_refused_and_the_recipe_is_named(changed, told, tmp_path):
    model = LanguageModel(replace(OURS["BERT"], **changed), SIZE, rng())
    with pytest.raises(UserError) as refusal:
        export(model, TOKENIZER, tmp_path / "out", "BERT")
    assert told in str(refusal.value) and "--recipe paper" in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_bands_in_every_second_layer_are_refused_and_no_recipe_is_named(tmp_path):
    model = LanguageModel(replace(OURS["GPT-2"], attention_window=8), SIZE, rng())
    with pytest.raises(UserError, match="attention_window is 8, but transformers has bands only in") as refusal:
        export(model, TOKENIZER, tmp_path / "out", "GPT-3")
    assert "--recipe" not in str(refusal.value) and not list(tmp_path.iterdir())


def test_the_default_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="--recipe paper"):
        export(LanguageModel(Architecture(), SIZE, rng()), TOKENIZER, tmp_path / "out")


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not an empty folder"):
        export(our_model("BERT"), TOKENIZER, tmp_path / "full")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("playground.interop.folder.save_file", fail)
    with pytest.raises(UserError, match="No space left"):
        export(our_model("BERT"), TOKENIZER, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
