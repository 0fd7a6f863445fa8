"""A compressed model on disk: one safetensors file that holds what is left and nothing else, and its tokenizer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor, nn

from playground import __version__
from playground.compression.classifier import Classifier, LowRank, LowRankEmbedding
from playground.compression.grids import Grid, round_activations
from playground.compression.masks import owner
from playground.compression.method import Compressed
from playground.devices import arrays
from playground.errors import UserError, writing
from playground.finetuning.data.task import Task
from playground.finetuning.strategy.head import Head, TaskHead
from playground.interop.family import Family
from playground.interop.folder import export
from playground.knob import as_saved
from playground.models import Architecture, model_without_weights
from playground.models.model import LanguageModel
from playground.models.transformer import Attention
from playground.parsing import parse_json
from playground.tokenizing import Tokenizer, tokenizer_json

WORD_TABLE = "model.token_embedding"

FILE, WORDS, FORMAT = "model.safetensors", "tokenizer.json", 1

Header = dict[str, Any]


def save(folder: Path | str, compressed: Compressed, tokenizer: Tokenizer | None = None) -> Path:
    """Write the model, and its tokenizer where one is given; the path of the model's file."""
    folder = Path(folder)
    tensors, header = pack(compressed)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        save_file(arrays(tensors), folder / FILE, metadata={"compressed": json.dumps(header)})
        if tokenizer is not None:
            (folder / WORDS).write_text(tokenizer_json.to_json(tokenizer), encoding="utf-8")
    return folder / FILE


def pack(compressed: Compressed) -> tuple[dict[str, Tensor], Header]:
    """The tensors of a file and its header."""
    classifier, tensors, sparse = compressed.classifier, dict[str, Tensor](), dict[str, list[int]]()
    for name, held in classifier.state_dict().items():
        value = held.detach().contiguous()
        if name in compressed.grids:
            grid = compressed.grids[name]
            tensors |= {f"{name}.codes": grid.packed(), f"{name}.scales": grid.scales}
        elif compressed.sparse and name in compressed.zeros:
            mask = value != 0
            tensors[f"{name}.bitmask"] = torch.from_numpy(np.packbits(mask.flatten().numpy()))
            tensors[f"{name}.values"], sparse[name] = value[mask], [*value.shape]
        else:
            tensors[name] = value.to(torch.int32) if value.dtype == torch.long else value
    head = classifier.head
    header = {
        "format": FORMAT, "version": __version__, "methods": compressed.methods, "layers": compressed.layers,
        "architecture": asdict(classifier.model.shape), "vocabulary": classifier.vocabulary,
        "head": {**asdict(head.spec), "read": head.score.in_features, "scores": head.score.out_features},
        "heads": {name: attn.kept_heads for name, attn in _attentions(classifier).items()},
        "exits": len(classifier.exits), "speed": classifier.speed, "activation_bits": classifier.activation_bits,
        "grids": {name: [grid.bits, [*grid.codes.shape]] for name, grid in compressed.grids.items()},
        "sparse": sparse, "zeros": sorted(compressed.zeros),
    }  # fmt: skip
    return tensors, header


def load(folder: Path | str, task: Task) -> Compressed:
    """Read a compressed model of a task; a file that is missing, cut short or of another form is refused."""
    path = Path(folder) / FILE
    if not path.is_file():
        raise UserError(f"There is no compressed model at {path}; give a folder that `playground compress` wrote.")
    try:
        with safe_open(path, framework="pt") as file:
            header = parse_json((file.metadata() or {}).get("compressed", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        words = Path(folder) / WORDS
        known = tokenizer_json.from_json(words.read_text(encoding="utf-8")).words if words.is_file() else ()
        return unpack(tensors, header, task, known)
    except UserError:
        raise
    except (SafetensorError, LookupError, TypeError, ValueError, AttributeError, RuntimeError, OSError) as error:
        raise UserError(f"The compressed model {path} is damaged or of another version ({error}).") from error


def unpack(tensors: Mapping[str, Tensor], header: Header, task: Task, words: Sequence[str] = ()) -> Compressed:
    """The model that was packed; `words` are the vocabulary, for vectors that are made of letters."""
    if header.get("format") != FORMAT:
        raise UserError(f"The file has format {header.get('format')}; this version reads format {FORMAT}.")
    if header["head"]["scores"] != task.answer.scores:
        raise UserError(f"The model gives {header['head']['scores']} scores, and {task.name!r} needs "
                        f"{task.answer.scores}. Choose the task that it was compressed for.")  # fmt: skip
    state, grids = _state(tensors, header)
    table = f"{WORD_TABLE}.table" if f"{WORD_TABLE}.table" in state else f"{WORD_TABLE}.weight"
    model = LanguageModel(as_saved(Architecture(), header["architecture"]), len(state[table]), None, words)
    classifier = Classifier(model, _head(header, model, task), state.get("kept_ids"))
    classifier.vocabulary, classifier.speed = header["vocabulary"], header["speed"]
    classifier.exits = nn.ModuleList(_exit(header, model, task, k + 1) for k in range(header["exits"]))
    _fill(classifier, state)
    for name, attn in _attentions(classifier).items():
        attn.kept_heads = tuple(header["heads"][name])
        if len(attn.kept_heads) != attn.heads:
            raise ValueError(f"{name} has {attn.heads} heads, and its numbers are {attn.kept_heads}")
    round_activations(classifier, header["activation_bits"])
    return Compressed(
        classifier, grids, frozenset(header["zeros"]), bool(header["sparse"]), tuple(map(tuple, header["layers"])),
        tuple(header["methods"]),
    )  # fmt: skip


def _state(tensors: Mapping[str, Tensor], header: Header) -> tuple[dict[str, Tensor], dict[str, Grid]]:
    """The tensors that the model computes with, and the grids of those that have one."""
    parts = (".codes", ".scales", ".bitmask", ".values")
    state = {name: value for name, value in tensors.items() if not name.endswith(parts)}
    grids = {
        name: Grid.unpacked(tensors[f"{name}.codes"], tensors[f"{name}.scales"], bits, tuple(shape))
        for name, (bits, shape) in header["grids"].items()
    }
    for name, shape in header["sparse"].items():
        number = int(np.prod(shape))
        mask = torch.from_numpy(np.unpackbits(tensors[f"{name}.bitmask"].numpy(), count=number)).bool()
        whole = torch.zeros(number)
        whole[mask] = tensors[f"{name}.values"]
        state[name] = whole.view(shape)
    if "kept_ids" in state:
        state["kept_ids"] = state["kept_ids"].long()
    return state | {name: grid.weight for name, grid in grids.items()}, grids


def _head(header: Header, model: LanguageModel, task: Task) -> TaskHead:
    known = header["head"]
    spec, top = Head(known["reads"], known["pool"], known["recurrent"]), model.top_hidden_state
    head = TaskHead(spec, (top,), top, model.shape.features_width, task.answer)
    head.score = nn.Linear(known["read"], known["scores"])
    return head


def _exit(header: Header, model: LanguageModel, task: Task, level: int) -> TaskHead:
    head = _head(header, model, task)
    head.top, head.levels = level, (level,)
    return head


def _attentions(classifier: Classifier) -> dict[str, Attention]:
    """Every attention of a model by its name."""
    return {name: module for name, module in classifier.named_modules() if isinstance(module, Attention)}


@torch.no_grad()
def _fill(classifier: Classifier, state: Mapping[str, Tensor]) -> None:
    """Put the weights in their places, whatever their shapes; all that a model has must be there."""
    for name in [name.removesuffix(".down.weight") for name in state if name.endswith(".down.weight")]:
        module, attribute = owner(classifier, name)
        setattr(module, attribute, LowRank(1, 1, 1, getattr(module, attribute).bias is not None))
    if f"{WORD_TABLE}.table" in state:
        table, projection = (state[f"{WORD_TABLE}.{part}"] for part in ("table", "projection"))
        classifier.model.add_module("token_embedding", LowRankEmbedding(table, projection))
    lacking = {*classifier.state_dict()} ^ {*state}
    if lacking:
        raise ValueError(f"{min(lacking)} is only in the file or only in the model")
    for name, value in state.items():
        module, attribute = owner(classifier, name)
        if name != "kept_ids":
            setattr(module, attribute, nn.Parameter(value.clone()))
    wide = classifier.model.shape.head_width
    for module in classifier.modules():
        if isinstance(module, nn.Linear):
            module.out_features, module.in_features = module.weight.shape
        if isinstance(module, nn.Embedding):
            module.num_embeddings, module.embedding_dim = module.weight.shape
        if isinstance(module, Attention):
            module.heads = len(module.query.weight) // wide


def not_in_a_folder(classifier: Classifier) -> str:
    """What a model does that a folder of transformers has no place for, in words; empty where there is nothing."""
    bits, exits = classifier.activation_bits, len(classifier.exits)
    rounding = f"the rounding of activations to {bits} bits" if bits else ""
    early = f"its {exits} early exits" if exits else ""
    return " and ".join(filter(None, (rounding, early)))


def export_folder(compressed: Compressed, tokenizer: Tokenizer, path: Path | str, name: str = "") -> Family:
    """Write the network, without the task's head, as a folder that transformers reads, where a family has its form.

    `not_in_a_folder` says what else is left out.
    """
    model = compressed.classifier.model
    if compressed.classifier.kept_ids is not None:
        raise UserError(
            "A Hugging Face folder needs a tokenizer with the words of the model, and some were left out here."
        )
    whole = model_without_weights(model.shape, model.token_embedding.num_embeddings).state_dict()
    state = model.state_dict()
    cut = [n for n in {*whole} | {*state} if n not in whole or n not in state or whole[n].shape != state[n].shape]
    if cut:
        raise UserError(f"No family of transformers has layers of these sizes: {min(cut)} was cut or factorised. "
                        "Leave out head pruning, neuron pruning, low rank and factorised embeddings.")  # fmt: skip
    return export(model, tokenizer, path, name)
