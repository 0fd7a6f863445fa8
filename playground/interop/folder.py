"""A folder in the layout of transformers: config.json, model.safetensors and tokenizer.json, written and read."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.numpy import save_file
from torch import Tensor

from playground.batch import Specials
from playground.devices import arrays
from playground.errors import UserError
from playground.interop.family import LIMITS, POOLER, Family, check_size, families
from playground.interop.generator import add_generator, take_generator
from playground.interop.tokenizer_file import read_tokenizer, write_tokenizer
from playground.interop.weights import WHOLE, FolderWeights, read_json
from playground.models import Architecture, LanguageModel, model_without_weights
from playground.models.model import with_merged_embeddings
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

GENERATOR = "generator"
"""The folder inside for ELECTRA's generator."""

ROWS = (
    "token_embedding.weight", "lm_head.table.weight", "lm_head.bias", "generator_lm_head.bias",
    "generator_token_embedding.weight",
)  # fmt: skip
"""The weights with a row for every word."""


@dataclass(frozen=True)
class FolderPart:
    """One folder as it was read: its config.json with the values of missing keys, and its weights by our names."""

    family: Family
    config: Mapping[str, Any]
    shape: Architecture
    state: dict[str, Tensor]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class OpenedFolder:
    """What a folder holds; `left_out` are weights of it that no model of ours has."""

    model: LanguageModel
    tokenizer: Tokenizer
    family: Family
    left_out: tuple[str, ...] = ()


# writing


def export(source: TrainState | LanguageModel, tokenizer: Tokenizer, path: Path | str, name: str = "") -> Family:
    """Write a model as a folder that transformers reads; its family is the one that has exactly its architecture.

    Where several have it, `name` chooses, which is that of the entry of a run.
    """
    path, model = Path(path), with_merged_embeddings(source.model if isinstance(source, TrainState) else source)
    name = name or (source.entry.name if isinstance(source, TrainState) else "")
    shape = replace(model.shape, mtp_num_layers=0, mtp_sequential=False)  # only pre-training reads those layers
    state = {name: value for name, value in model.state_dict().items() if not name.startswith("mtp_blocks.")}
    family = choose_family(shape, name)
    if len(tokenizer) != len(state["token_embedding.weight"]):
        raise UserError(
            f"The tokenizer has {len(tokenizer)} entries and the model {len(state['token_embedding.weight'])}."
        )
    files = {".": (family, shape, state)}
    if family.companion and shape.generator_ratio:
        files[GENERATOR] = (families()[family.companion], *take_generator(shape, state))
    words = write_tokenizer(tokenizer)
    parts = {
        folder: (_config(kind, form, tokenizer.specials), kind.write(form, held, tokenizer.specials.pad), words)
        for folder, (kind, form, held) in files.items()
    }
    write_folder(path, parts)
    return family


def choose_family(shape: Architecture, name: str = "") -> Family:
    """The family that has an architecture exactly, that of the `name` first; else a refusal that says what differs."""
    each = sorted(families().values(), key=lambda family: name not in (family.name, family.entry))
    found = next((family for family in each if not family.differences(shape)), None)
    if found is not None:
        return found
    if shape.attention_window:
        raise UserError(
            f"attention_window is {shape.attention_window}, but transformers has bands only in layers of another form "
            "(GPT-Neo); a model that is trained with attention_window 0 can be exported."
        )
    if shape.kind == "transformer" and shape.layer_window:
        raise UserError(
            f"sliding_window is {shape.layer_window}, but no family here has a sliding window in transformers; a model "
            "that is trained with sliding_window 0 can be exported."
        )
    near = each[0] if name in (each[0].name, each[0].entry) else min(each, key=lambda f: len(f.differences(shape)))
    raise UserError(
        f"This model is not a {near.name} as transformers has it: {'; '.join(near.differences(shape))}. The recipe "
        f"'paper' trains it in the published form: playground train {name or near.entry} --recipe paper."
    )


def _config(family: Family, shape: Architecture, ids: Specials) -> dict[str, Any]:
    start = {"decoder_start_token_id": ids.start, "forced_eos_token_id": None} if shape.decoder_layers else {}
    known = {"pad_token_id": "pad", "bos_token_id": "start", "eos_token_id": "end"}
    numbers = {key: ids.roles[role] for key, role in known.items() if role in ids.roles} | start
    return {**family.write_config(shape, ids.pad), "vocab_size": ids.size, **numbers, "dtype": "float32"}


def write_folder(path: Path, parts: Mapping[str, tuple[dict[str, Any], dict[str, Tensor], dict[str, Any]]]) -> None:
    """Write a folder beside its place, then rename it, so that a reader never sees half of it."""
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise UserError(f"{path} exists and is not an empty folder; choose another.")
    temporary = path.with_name(path.name + ".writing")
    shutil.rmtree(temporary, ignore_errors=True)  # of a process that was ended while it wrote
    try:
        for name, (config, tensors, words) in parts.items():
            inside = temporary / name
            inside.mkdir(parents=True, exist_ok=True)
            for file, content in {"config.json": config, **words}.items():
                text = json.dumps(content, indent=2, ensure_ascii=False)
                (inside / file).write_text(text + "\n", encoding="utf-8")
            ready = arrays({k: v.float() for k, v in tensors.items()})
            save_file(ready, inside / WHOLE, metadata={"format": "pt"})
        for file in temporary.rglob("*.*"):
            with file.open("rb") as written:
                os.fsync(written.fileno())
        os.replace(temporary, path)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(temporary, ignore_errors=True)
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"The folder {path} cannot be written ({reason}); choose another.") from error


# reading


def open_folder(path: Path | str, numbered: bool = False, add: Sequence[str] = ()) -> OpenedFolder:
    """Read a folder that transformers wrote; with `numbered` its words are numbers and its tokenizer is not read.

    The vocabulary gets a row for each role of a special token to `add`, such as "mask" for GPT-2.
    """
    path = Path(path)
    if not os.path.isfile(path / "config.json"):
        raise UserError(f"There is no config.json in {path}; give a folder that save_pretrained wrote.")
    part = _read_part(path)
    family, shape, state = part.family, part.shape, part.state
    if family.companion and os.path.isdir(path / GENERATOR):
        other = _read_part(path / GENERATOR)
        if other.family.name != family.companion:
            raise UserError(f"{path / GENERATOR} is {other.family.name}, not {family.companion}.")
        shape, state = add_generator(shape, state, other.shape, other.state)
    tokenizer = read_tokenizer(path, part.config, len(state["token_embedding.weight"]), numbered, add)
    model = model_without_weights(shape, len(tokenizer))
    model.load_state_dict(_with_rows(state, len(tokenizer)), assign=True)
    return OpenedFolder(model, tokenizer, family, part.left_out)


def _read_part(path: Path) -> FolderPart:
    """The family, the architecture and the weights of one folder."""
    config = read_json(path / "config.json")
    family = _family_of(config)
    config = family.completed(config)
    size = check_size("vocab_size", config["vocab_size"], LIMITS["vocabulary"])
    pad = config["pad_token_id"]
    pad = pad if type(pad) is int and 0 <= pad < size else 0
    weights = FolderWeights(path, family.today, {family.output: family.table, **family.copies})
    shape = family.read_config(config, pad, family.parts(config, weights))
    ours = model_without_weights(shape, size).state_dict()
    expected = family.write(shape, ours, pad)
    missing = {name: torch.zeros(expected.pop(name).shape) for name in family.optional if not weights.has(name)}
    pooler = family.prefix + POOLER
    weights.check(expected, pooler)
    tensors = weights.load(expected) | missing
    for copy, first in weights.copies.items():
        if copy not in expected and weights.differ(copy, first):
            raise UserError(f"The weights {copy} and {first} differ; our models have one for both.")
    left_out = tuple(sorted(n for n in weights.held_in.keys() - expected.keys() if n.startswith(pooler)))
    return FolderPart(family, config, shape, family.read(shape, tensors, ours, pad), left_out)


def _family_of(config: Mapping[str, Any]) -> Family:
    """The family of a config.json."""
    named, model = config.get("architectures"), config.get("model_type")
    classes = {kind: family for family in families().values() for kind in (*family.classes, family.plain) if kind}
    if isinstance(named, list) and len(named) == 1 and named[0] in [*classes]:
        if classes[named[0]].model_type == model:
            return classes[named[0]]
        raise UserError(f"config.json says architectures {named[0]} and model_type {model!r}, which do not fit.")
    raise UserError(
        f"config.json says architectures {named!r} and model_type {model!r}; what can be read is {', '.join(classes)}."
    )


def _with_rows(state: Mapping[str, Tensor], size: int) -> dict[str, Tensor]:
    """The weights with rows for special tokens that were added: the mean of the others."""

    def longer(value: Tensor) -> Tensor:
        return torch.cat([value, value.mean(0, keepdim=True).expand(size - len(value), *value.shape[1:])])

    return {name: longer(value) if name in ROWS and len(value) < size else value for name, value in state.items()}
