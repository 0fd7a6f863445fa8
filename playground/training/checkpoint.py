"""Checkpoints: one safetensors file with weights, optimiser state and a JSON header; written whole or not at all."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from playground import __version__
from playground.batch import OPTIONAL, Tokens
from playground.errors import Refusal
from playground.knob import as_saved
from playground.models import Architecture
from playground.parsing import parse_int, parse_json
from playground.tokenizing import Tokenizer
from playground.training import checkpoint_checks, old_names
from playground.training.train_state import TrainState
from playground.zoo import Recipe, entry_named
from playground.zoo.entry import Entry

FORMAT = 2
"""Format 1 had names of its own for the parts of a model and for what a row knows (`older.tensor`)."""

HELD_OUT = ("ids", "lengths", "word_ids", "sentence_ids")
COUNTED = ("step", "tokens", "graded")

BEFORE = Architecture(tie_generator="table")
"""What earlier versions built where their files do not say it."""


@dataclass(frozen=True)
class CorpusInfo:
    """What a run must remember of its corpus: name, content hash, unigram entropy in nats, the held-out rows.

    `rehearsal` are rows of its training text for strategies that rehearse, where the corpus could not be opened again.
    """

    name: str
    hash: str
    unigram_entropy: float
    held_out: Tokens
    rehearsal: Tokens | None = None


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds, read back."""

    learner: TrainState
    tokenizer: Tokenizer
    corpus: CorpusInfo


Packed = tuple[dict[str, Tensor], dict[str, Any]]
"""The tensors of a checkpoint by name, and its header."""


def save(path: Path, learner: TrainState, tokenizer: Tokenizer, corpus: CorpusInfo) -> Path:
    """Everything needed to go on bit for bit, and the held-out rows on which forgetting is measured later."""
    return write_whole(path, *pack(learner, tokenizer, corpus))


def pack(learner: TrainState, tokenizer: Tokenizer, corpus: CorpusInfo) -> Packed:
    """What a checkpoint holds, still the learner's own tensors."""
    tensors = {f"model.{name}": value for name, value in learner.model.state_dict().items()}
    tensors |= _written(corpus.held_out, "held_out")
    if corpus.rehearsal is not None:  # which shares its counts of words with what was held out
        tensors |= {name: value.clone() for name, value in _written(corpus.rehearsal, "rehearsal").items()}
    for number, optimiser in enumerate(learner.optimisers):
        for index, state in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{index}.{k}": v for k, v in state.items() if torch.is_tensor(v)}
    about = {
        "format": FORMAT,
        "version": __version__,
        "entry": learner.entry.name,
        "architecture": asdict(learner.entry.model),
        "recipe": asdict(learner.entry.recipe),
        "knobs": {name: k.default for name, k in learner.entry.objective.knobs.items()},
        "seed": learner.seed,
        "step": learner.step,
        "tokens": learner.tokens,
        "graded": learner.graded,
        "seconds": learner.seconds,
        "each": learner.each,
        "corpus": [corpus.name, corpus.hash, corpus.unigram_entropy],
        "tokenizer": json.loads(tokenizer.to_json()),
    }
    return tensors, about


def write_whole(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> Path:
    """Write beside, then rename, so that a reader never sees half a file."""
    beside = path.with_suffix(".writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ready = {k: v.detach().cpu().contiguous() for k, v in tensors.items()}
        save_file(ready, beside, metadata={"playground": json.dumps(about)})
        put_in_place(beside, path)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Refusal(f"The checkpoint could not be written to {path}: {reason}.") from error
    return path


def put_in_place(beside: Path, path: Path) -> None:
    """Rename a finished file once it is on the disk, so that a loss of power leaves the old one or the new one."""
    with beside.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(beside, path)


def load(path: Path | str, device: torch.device | str = "cpu") -> Checkpoint:
    """A learner as it was saved; a file that is missing, cut short or from another version is a sentence."""
    path = Path(path)
    path = path / "checkpoint.safetensors" if os.path.isdir(path) else path
    about, tensors = read(path)
    try:
        return _restored(about, tensors, torch.device(device))
    except Refusal:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, ArithmeticError) as error:
        why = str(error) if isinstance(error, ValueError) else type(error).__name__
        raise Refusal(
            f"The checkpoint {path} was written by version {about.get('version', 'unknown')} and does not fit version "
            f"{__version__} ({why}); train again, or read it with the version that wrote it."
        ) from error


def _restored(about: dict[str, Any], tensors: dict[str, Tensor], device: torch.device) -> Checkpoint:
    entry = _entry(about)
    tokenizer = Tokenizer.from_json(json.dumps(about["tokenizer"]))
    checkpoint_checks.check_size(entry.model, len(tokenizer), tensors)
    learner = TrainState.new(entry, tokenizer.words, checkpoint_checks.number(about, "seed"), device)
    learner.model.load_state_dict({k[6:]: v for k, v in tensors.items() if k.startswith("model.")})
    for number, optimiser in enumerate(learner.optimisers):
        _restore(optimiser, number, tensors)
    since = {"graded": 0, "each": 0.0} | about  # earlier versions did not count them
    learner.step, learner.tokens, learner.graded = (checkpoint_checks.number(since, name) for name in COUNTED)
    learner.seconds, learner.each = (checkpoint_checks.number(since, name, float) for name in ("seconds", "each"))
    return Checkpoint(learner, tokenizer, _studied(about, tensors, tokenizer, dict(entry.model.labels), device))


def _studied(
    about: dict[str, Any], tensors: dict[str, Tensor], tokenizer: Tokenizer, classes: dict[str, int],
    device: torch.device,
) -> CorpusInfo:  # fmt: skip
    name, content, _ = map(str, about["corpus"])
    there = [part for part in ("held_out", "rehearsal") if f"{part}.ids" in tensors]
    rows = {part: _read_back(tensors, part, tokenizer) for part in there}
    for part, tokens in rows.items():
        checkpoint_checks.check_rows(tokens, part, classes)
    kept = rows.get("rehearsal")
    entropy = checkpoint_checks.number({"unigram entropy": about["corpus"][2]}, "unigram entropy", float)
    return CorpusInfo(name, content, entropy, rows["held_out"].to(device), kept and kept.to(device))


def _written(tokens: Tokens, name: str) -> dict[str, Tensor]:
    """Rows of text as named tensors, with their labels and the texts beside them."""
    known = {key: getattr(tokens, key) for key in (*HELD_OUT, *OPTIONAL)}
    found = {f"{name}.{key}": value for key, value in known.items() if value is not None}
    found |= {f"{name}.label.{label}": row for label, row in tokens.labels.items()}
    for key, other in tokens.neighbours.items():
        found |= _written(other, f"{name}.neighbour.{key}")
    return found


def _read_back(tensors: dict[str, Tensor], name: str, tokenizer: Tokenizer) -> Tokens:
    """The same rows again; files of earlier versions have neither labels nor neighbours."""
    here = {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}
    beside = dict.fromkeys(key.split(".")[1] for key in here if key.startswith("neighbour."))
    ids, lengths, word, sentence = (here[key] for key in HELD_OUT)
    return Tokens(
        ids,
        lengths,
        word,
        sentence,
        example_ids=here.get("example_ids"),
        epoch=here.get("epoch"),
        word_counts=here.get("word_counts"),
        specials=tokenizer.specials,
        labels={key.removeprefix("label."): row for key, row in here.items() if key.startswith("label.")},
        neighbours={key: _read_back(tensors, f"{name}.neighbour.{key}", tokenizer) for key in beside},
        vocabulary=tokenizer.words,
        padded=bool((lengths < ids.shape[1]).any()),
    )


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header and the tensors of a checkpoint file."""
    if not os.path.isfile(path):
        raise Refusal(f"There is no checkpoint at {path}; give the folder of a run, as printed by `playground train`.")
    try:
        with safe_open(path, framework="pt") as file:
            about = parse_json((file.metadata() or {}).get("playground", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if not isinstance(about, dict):
                raise ValueError(f"its header is {type(about).__name__}, not an object")
    except (SafetensorError, ValueError, OSError) as error:
        raise Refusal(f"The checkpoint {path} is damaged or cut short ({error}); use an earlier one.") from error
    if about.get("format") == 1:
        return about, {old_names.tensor(name): value for name, value in tensors.items()}
    if about.get("format") != FORMAT:
        found = about.get("format", "none")
        raise Refusal(f"The checkpoint {path} has format {found}; this version reads formats 1 and {FORMAT}.")
    return about, tensors


def _entry(about: dict[str, Any]) -> Entry:
    entry = entry_named(about["entry"])
    return replace(
        entry,
        model=as_saved(BEFORE, old_names.renamed(about["architecture"], old_names.ARCHITECTURE)),
        recipe=as_saved(Recipe(), old_names.renamed(about["recipe"], old_names.RECIPE)),
        objective=entry.objective.turn(old_names.knobs_of(entry.objective, about["knobs"])),
    )


def _restore(optimiser: torch.optim.Optimizer, number: int, tensors: dict[str, Tensor]) -> None:
    whole = optimiser.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith(f"optimiser.{number}."):
            _, _, index, key = name.split(".", 3)
            state.setdefault(parse_int(index), {})[key] = value
    checkpoint_checks.check_state(optimiser, state)
    optimiser.load_state_dict({**whole, "state": state})
