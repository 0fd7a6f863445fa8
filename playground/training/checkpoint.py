"""Checkpoints: one safetensors file with weights, optimiser state and a JSON header, written whole or not at all."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor

from playground import __version__
from playground.batch import OPTIONAL, Tokens
from playground.devices import arrays
from playground.errors import UserError
from playground.knob import as_saved
from playground.models import Architecture
from playground.objectives import find_objective
from playground.objectives.mask_overrides import from_json, to_json
from playground.optimisers import AdamW, Muon
from playground.parsing import LARGEST, parse_int, parse_json
from playground.tokenizing import Tokenizer, tokenizer_json
from playground.training.train_state import TrainState
from playground.zoo import Recipe, entry_named
from playground.zoo.entry import Entry

FORMAT = 3
"""Grows when the content of a file changes."""

HELD_OUT = ("ids", "lengths", "word_ids", "sentence_ids")
COUNTED = ("step", "tokens", "scored")

MOST_LABELS = 2**26
"""The largest label: labels count something in a corpus, and no corpus here has so many tokens."""

STATE = {AdamW: {"step", "exp_avg", "exp_avg_sq"}, Muon: {"momentum_buffer"}}
"""The state of each optimiser for a weight."""


@dataclass(frozen=True)
class CorpusInfo:
    """The corpus of a run: name, content hash, unigram entropy in nats, the held-out rows.

    `rehearsal` are rows of its training text for strategies that rehearse, where the corpus cannot be opened again.
    """

    name: str
    hash: str
    unigram_entropy: float
    held_out: Tokens
    rehearsal: Tokens | None = None


@dataclass(frozen=True)
class Checkpoint:
    """The content of a checkpoint, read back."""

    learner: TrainState
    tokenizer: Tokenizer
    corpus: CorpusInfo
    folder: Path = Path()


def save(
    path: Path, learner: TrainState, tokenizer: Tokenizer, corpus: CorpusInfo, facts: Mapping[str, Any] | None = None
) -> Path:
    """Write all that is needed to go on bit for bit, the held-out rows on which forgetting is measured, and `facts`."""
    tensors, about = _pack(learner, tokenizer, corpus)
    return write_whole(path, tensors, about | ({"facts": facts} if facts else {}))


def _pack(learner: TrainState, tokenizer: Tokenizer, corpus: CorpusInfo) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a checkpoint by name, and its header."""
    tensors = {f"model.{name}": value for name, value in learner.model.state_dict().items()}
    tensors |= {f"mems.{layer}": states for layer, states in enumerate(learner.mems)}
    tensors |= _pack_rows(corpus.held_out, "held_out")
    if corpus.rehearsal is not None:  # its word counts are the same tensor as those of the held-out rows
        tensors |= {name: value.clone() for name, value in _pack_rows(corpus.rehearsal, "rehearsal").items()}
    for number, optimiser in enumerate(learner.optimisers):
        for index, state in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{index}.{k}": v for k, v in state.items() if torch.is_tensor(v)}
    about = {
        "format": FORMAT,
        "version": __version__,
        "entry": learner.entry.name,
        "objective": learner.entry.objective.name,
        "architecture": asdict(learner.entry.model),
        "recipe": asdict(learner.entry.recipe),
        "knobs": {name: k.default for name, k in learner.entry.objective.knobs.items()},
        "mask_overrides": to_json(learner.entry.mask_overrides),
        "seed": learner.seed,
        "step": learner.step,
        "tokens": learner.tokens,
        "scored": learner.scored,
        "seconds": learner.seconds,
        "each": learner.each,
        "corpus": [corpus.name, corpus.hash, corpus.unigram_entropy],
        "tokenizer": json.loads(tokenizer_json.to_json(tokenizer)),
    }
    return tensors, about


def write_whole(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> Path:
    """Write a temporary file, then rename it, so that a reader never sees half a file."""
    temporary = path.with_suffix(".writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(arrays(tensors), temporary, metadata={"playground": json.dumps(about)})
        put_in_place(temporary, path)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"The checkpoint could not be written to {path}: {reason}.") from error
    return path


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished file once it is on the disk, so that a loss of power leaves the old one or the new one."""
    with temporary.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(temporary, path)


KEPT = 20
"""Most earlier checkpoints of one run on the disk; with more, every second one is deleted."""


def keep(path: Path, step: int) -> None:
    """Give a checkpoint a second name, so that the run can be forked from this step when the next one replaces it."""
    second = path.with_name(f"step-{step}.safetensors")
    second.unlink(missing_ok=True)
    try:
        os.link(path, second)
    except OSError:  # some file systems have no hard links
        shutil.copyfile(path, second)
    paths = list(kept(path.parent).values())
    for old in paths[::2] if len(paths) > KEPT else ():
        old.unlink()


def kept(folder: Path) -> dict[int, Path]:
    """The checkpoints of a run that stayed, by step."""
    paths = folder.glob("step-*.safetensors") if os.path.isdir(folder) else ()
    steps = {re.fullmatch(r"step-([0-9]+)\.safetensors", path.name): path for path in paths}
    return dict(sorted((int(match[1]), path) for match, path in steps.items() if match))


def load(path: Path | str, device: torch.device | str = "cpu") -> Checkpoint:
    """Read a checkpoint; a file that is missing, cut short or from another version is refused."""
    path = Path(path)
    path = path / "checkpoint.safetensors" if os.path.isdir(path) else path
    about, tensors = read(path)
    try:
        return replace(_restored(about, tensors, torch.device(device)), folder=path.parent)
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, ArithmeticError) as error:
        why = str(error) if isinstance(error, ValueError) else type(error).__name__
        raise UserError(
            f"The checkpoint {path} was written by version {about.get('version', 'unknown')} and does not fit version "
            f"{__version__} ({why}); train again, or read it with the version that wrote it."
        ) from error


def _restored(about: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Checkpoint:
    entry = _entry(about)
    tokenizer = tokenizer_json.from_json(json.dumps(about["tokenizer"]))
    _check_size(entry.model, len(tokenizer), tensors)
    learner = TrainState.new(entry, tokenizer.words, _number(about, "seed"), device)
    learner.model.load_state_dict({k[6:]: v for k, v in tensors.items() if k.startswith("model.")})
    learner.mems = _mems(entry, tensors, device)
    learner.step, learner.tokens, learner.scored = (_number(about, name) for name in COUNTED)
    learner.seconds, learner.each = (_number(about, name, float) for name in ("seconds", "each"))
    learner.enter_phase()
    for number, optimiser in enumerate(learner.optimisers):
        _restore(optimiser, number, tensors)
    name, content, entropy = about["corpus"]
    entropy = _number({"unigram entropy": entropy}, "unigram entropy", float)
    if not re.fullmatch("[0-9a-f]{32}", str(content)):
        raise ValueError(f"the hash of its corpus is {str(content)[:40]!r}, not 32 digits from 0 to f")
    parts = [part for part in ("held_out", "rehearsal") if f"{part}.ids" in tensors]
    rows = {part: _unpack_rows(tensors, part, tokenizer) for part in parts}
    for part, tokens in rows.items():
        _check_rows(tokens, part, dict(entry.model.labels))
    on_device = {part: tokens.to(device) for part, tokens in rows.items()}
    info = CorpusInfo(str(name), str(content), entropy, on_device["held_out"], on_device.get("rehearsal"))
    return Checkpoint(learner, tokenizer, info)


def _pack_rows(tokens: Tokens, name: str) -> dict[str, Tensor]:
    """Rows of text as named tensors, with their labels and the texts beside them."""
    fields = {key: getattr(tokens, key) for key in (*HELD_OUT, *OPTIONAL)}
    tensors = {f"{name}.{key}": value for key, value in fields.items() if value is not None}
    tensors |= {f"{name}.label.{label}": row for label, row in tokens.labels.items()}
    for key, other in tokens.neighbours.items():
        tensors |= _pack_rows(other, f"{name}.neighbour.{key}")
    return tensors


def _unpack_rows(tensors: dict[str, Tensor], name: str, tokenizer: Tokenizer) -> Tokens:
    """The same rows again."""
    own = {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}
    neighbours = dict.fromkeys(key.split(".")[1] for key in own if key.startswith("neighbour."))
    ids, lengths, word_ids, sentence_ids = (own[key] for key in HELD_OUT)
    optional: dict[str, Any] = {key: own.get(key) for key in OPTIONAL}
    return Tokens(
        ids, lengths, word_ids, sentence_ids,
        **optional,
        specials=tokenizer.specials,
        labels={key.removeprefix("label."): row for key, row in own.items() if key.startswith("label.")},
        neighbours={key: _unpack_rows(tensors, f"{name}.neighbour.{key}", tokenizer) for key in neighbours},
        vocabulary=tokenizer.words,
        padded=bool((lengths < ids.shape[1]).any()),
    )  # fmt: skip


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header and the tensors of a checkpoint file."""
    if not os.path.isfile(path):
        folders = path.parent.glob("*") if os.path.isdir(path.parent) else ()
        inner = sorted(str(folder) for folder in folders if os.path.isfile(folder / path.name))
        name = f"name one of the runs in it: {', '.join(inner)}" if inner else "give the folder of a run"
        raise UserError(f"There is no checkpoint at {path}; {name}, as printed by `playground train`.")
    try:
        with safe_open(path, framework="pt") as file:
            about = parse_json((file.metadata() or {}).get("playground", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if not isinstance(about, dict):
                raise ValueError(f"its header is {type(about).__name__}, not an object")
    except (SafetensorError, ValueError, OSError) as error:
        raise UserError(f"The checkpoint {path} is damaged or cut short ({error}); use an earlier one.") from error
    if about.get("format") != FORMAT:
        found = about.get("format", "none")
        raise UserError(f"The checkpoint {path} has format {found}; this version reads format {FORMAT}; train again.")
    return about, tensors


def _entry(about: dict[str, Any]) -> Entry:
    entry = entry_named(about["entry"])
    if (name := about.get("objective", entry.objective.name)) != entry.objective.name:  # a fork has changed it
        entry = entry.with_objective(find_objective(name))
    entry = entry.with_overrides(from_json(about.get("mask_overrides", [])))
    shaped = replace(
        entry,
        model=as_saved(Architecture(), about["architecture"]),
        recipe=as_saved(Recipe(), about["recipe"]),
    )
    kept, own = about["knobs"], entry.objective.knobs
    # of a knob that chains or phases have set apart, only a value that was turned holds for all of them
    return shaped.asking({name: value for name, value in kept.items() if name not in own or own[name].default != value})


def _restore(optimiser: torch.optim.Optimizer, number: int, tensors: dict[str, Tensor]) -> None:
    whole = optimiser.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith(f"optimiser.{number}."):
            _, _, index, key = name.split(".", 3)
            state.setdefault(parse_int(index), {})[key] = value
    _check_state(optimiser, state)
    optimiser.load_state_dict({**whole, "state": state})


def _mems(entry: Entry, tensors: Mapping[str, Tensor], device: torch.device) -> tuple[Tensor, ...]:
    """The memory of the last step, of every layer or of none."""
    shape = entry.model
    mems = tuple(tensors[name].to(device) for layer in range(shape.layers) if (name := f"mems.{layer}") in tensors)
    for states in mems:
        longest, size = shape.mem_len, list(states.shape)
        sound = states.dim() == 3 and size[2] == shape.width and size[1] <= longest and states.isfinite().all()
        if len(mems) != shape.layers or not sound or size != list(mems[0].shape):
            raise ValueError(f"its memory has {len(mems)} layers of the shape {size}")
    return mems


# checks of a file before it is used; what is wrong is a ValueError


def _number(about: Mapping[str, Any], name: str, kind: type = int) -> Any:
    """A number of the header, at least 0 unless it is the seed."""
    value = about[name]
    fits = isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
    if not fits or not (-LARGEST if name == "seed" else 0) <= value <= LARGEST:
        raise ValueError(f"{name} is {value!r}")
    return value


def _check_size(shape: Architecture, words: int, tensors: Mapping[str, Tensor]) -> None:
    """The file must hold as many weights as its model has; checked before the model is allocated."""
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("model."))
    labels = (*shape.labels, *shape.label_embeddings)
    rows = words + shape.segments + shape.languages + sum(number for _, number in labels)
    if shape.kind == "static":
        needed = (rows + shape.ngrams) * shape.width
    else:
        tables = {"added": 1, "concatenated": 0.5}.get(shape.second_positions, 0)
        tables += shape.positions == "learned" and shape.second_positions != "concatenated"
        rows += tables * shape.max_position_embeddings
        matrices = {"attention": 4 * shape.heads * shape.head_width / shape.width, "mlp": 2 * shape.mlp_ratio}
        shared = {"none": (), "all": tuple(matrices)}.get(shape.layer_sharing, (shape.layer_sharing,))
        layers = {part: 1 if part in shared else shape.layers + shape.decoder_layers for part in matrices}
        inside = sum(layers[part] * number for part, number in matrices.items()) * shape.width**2
        own = {"lstm": 4, "gru": 4, "window": len(shape.window_offsets)}
        inside = shape.layers * own[shape.kind] * shape.width**2 if shape.kind in own else inside
        needed = rows * shape.table_width + inside
    if needed > held:
        raise ValueError(f"its model has {needed:,} weights or more, the file {held:,}")


def _check_rows(tokens: Tokens, name: str, classes: Mapping[str, int]) -> None:
    """Rows of text must be whole numbers of one shape, each in its range."""
    if tokens.ids.dim() != 2 or not tokens.ids.numel():
        raise ValueError(f"{name}.ids has the shape {list(tokens.ids.shape)}")
    (rows, longest), size = tokens.ids.shape, len(tokens.vocabulary)
    each, one = (rows, longest), (rows,)
    _check_values(f"{name}.ids", tokens.ids, each, 0, size - 1)
    _check_values(f"{name}.lengths", tokens.lengths, one, 0, longest)
    _check_values(f"{name}.word_ids", tokens.word_ids, each, 0, longest - 1)
    _check_values(f"{name}.sentence_ids", tokens.sentence_ids, each, 0, longest - 1)
    for label, row in tokens.labels.items():
        _check_values(f"{name}.label.{label}", row, each, -1, classes.get(label, MOST_LABELS) - 1)
    for field, values in (("example_ids", tokens.example_ids), ("epoch", tokens.epoch)):
        if values is not None:
            _check_values(f"{name}.{field}", values, one, 0, LARGEST)
    if tokens.previous_ids is not None:
        _check_values(f"{name}.previous_ids", tokens.previous_ids, one, -1, size - 1)
    if (counts := tokens.word_counts) is not None:
        _check_values(f"{name}.word_counts", counts, (max(len(counts), int(tokens.ids.max()) + 1),), 0, LARGEST)
    for near, other in tokens.neighbours.items():
        _check_rows(other, f"{name}.neighbour.{near}", classes)
        if len(other.ids) != rows:
            raise ValueError(f"{name}.neighbour.{near} has {len(other.ids)} rows, not {rows}")


def _check_values(name: str, tensor: Tensor, shape: tuple[int, ...], low: int, high: int) -> None:
    if tensor.dtype != torch.long or tuple(tensor.shape) != shape:
        raise ValueError(f"{name} is {tensor.dtype} of shape {list(tensor.shape)}, not whole numbers {list(shape)}")
    if not low <= int(tensor.min()) <= int(tensor.max()) <= high:
        raise ValueError(f"{name} holds {int(tensor.min())} to {int(tensor.max())}, not {low} to {high}")


def _check_state(optimiser: torch.optim.Optimizer, state: Mapping[int, Mapping[str, Tensor]]) -> None:
    """The state of an optimiser must belong to its weights."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    for index, moments in state.items():
        if not 0 <= index < len(weights) or set(moments) != STATE[type(optimiser)]:
            raise ValueError(f"weight {index} of {len(weights)} has the moments {', '.join(sorted(moments))}")
        for name, value in moments.items():
            shape = () if name == "step" else tuple(weights[index].shape)
            if not value.is_floating_point() or tuple(value.shape) != shape:
                raise ValueError(f"{name} of weight {index} is {value.dtype} of shape {list(value.shape)}")
