"""Finished trials on disk, one line of JSON each, so that a comparison that was killed continues where it was."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict, cast

import torch

from playground import __version__
from playground.errors import UserError
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.strategy.strategy import Strategy
from playground.parsing import LARGEST, form_of, has_form, parse_json

FOR_PEOPLE = ("name", "aliases", "family", "idea", "source", "made_of", "published")
"""Fields of a strategy on which no number of a trial depends."""


class WrittenResult(TypedDict):
    """A `Result` where it is written down."""

    accuracy: float
    forgetting: float | None
    trainable: int
    stored: int
    seconds: float
    groups: list[str]
    plan: list[list[float]]
    rates: list[list[float]]
    moved: list[float]
    plugged_in: float | None
    mix: list[list[float]]
    unchanged: bool
    measured: dict[str, float]
    sizes: list[int]


RESULT = form_of(WrittenResult)
TENSORS = ("plan", "rates", "mix")


@dataclass
class Record:
    """The values of finished trials, by key; `path` is where they are kept, None in memory only.

    A line is written whole and reaches the disk before the trial counts as finished; half a line at the end, which a
    killed program leaves, is dropped.
    """

    file: ClassVar[str]
    path: Path | None = None
    known: dict[str, Any] = field(default_factory=dict)
    earlier: Sequence[Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, folder: Path, resume: bool) -> Self:
        """The record of a folder, of whose file nothing is changed before the first trial is finished."""
        path = folder / cls.file
        content = path.read_bytes() if resume and path.exists() else b""
        lines = cls.lines(content.splitlines())
        return cls(path, {line["key"]: line["value"] for line in lines}, lines)

    @classmethod
    def open(cls, folder: Path, resume: bool) -> Self:
        """The record of a folder; without `resume` a new one."""
        record = cls.of(folder, resume)
        record.begin()
        return record

    @classmethod
    def lines(cls, content: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """The lines of a file that hold a key and a value; damaged ones are left out."""
        lines = []
        for text in content:
            with suppress(ValueError, TypeError, RuntimeError, OverflowError, LookupError):
                line = parse_json(text.decode("utf-8"))
                lines += [line] if cls.is_whole(line) else []
        return lines

    @classmethod
    def is_whole(cls, line: Any) -> bool:
        """Whether a line holds a key and a value of this record; a damaged value may also raise an error."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write the lines of earlier trials that are kept, and drop all others."""
        if self.path is None or self.earlier is None:
            return
        lines, self.earlier = self.earlier, None
        beside = self.path.with_suffix(".writing")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            os.replace(beside, self.path)
        except OSError as error:
            raise UserError(f"The record {self.path} cannot be written ({error.strerror or error}).") from error

    def put(self, key: str, value: Any, **about: str | int) -> None:
        """Keep a value; `about` is for people who look into the file."""
        self.known[key] = value
        self.begin()
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **about, "value": value}) + "\n")
                file.flush()
                os.fsync(file.fileno())


class TrialRecord(Record):
    """The outcomes of a comparison of strategies, and the learning rates that were searched for."""

    file = "trials.jsonl"

    @classmethod
    def is_whole(cls, line: Any) -> bool:
        if not has_form(line, {"key": str, "value": RESULT}):
            return has_form(line, {"key": str, "value": float})  # a learning rate
        outcome = read_outcome(line["value"])
        whole = len(outcome.groups) == len(outcome.plan) == len(outcome.rates) == len(outcome.moved)
        return whole and abs(outcome.accuracy) <= 1 and not abs(outcome.forgetting or 0.0) > LARGEST

    def outcome(self, key: str) -> Result | None:
        known = self.known.get(key)
        return read_outcome(cast("WrittenResult", known)) if isinstance(known, dict) else None


def write_outcome(outcome: Result) -> WrittenResult:
    """An outcome as JSON; every number comes back to the last bit."""
    values: dict[str, Any] = {f.name: getattr(outcome, f.name) for f in fields(outcome)}
    values |= {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    values |= {name: getattr(outcome, name).tolist() for name in TENSORS}
    return WrittenResult(**values)


def read_outcome(values: WrittenResult) -> Result:
    """The outcome that was written."""
    known: dict[str, Any] = {f.name: values[f.name] for f in fields(Result)}
    known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    known |= {name: torch.tensor(values[name]) for name in TENSORS}
    return Result(**known)


def key(strategy: Strategy, seed: int, labels: int, setting: FinetuneConfig, shared: str, what: str = "trial") -> str:
    """The name of a trial: everything on which its numbers depend, hashed."""
    known = [
        what,
        identity(strategy),
        seed,
        labels,
        identity(replace(setting, keeps=True, looks=0)),
        shared,
        __version__,
    ]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]


def identity(value: Any) -> Any:
    """A declaration as plain values; functions and classes count by their names, texts for people do not count."""
    if is_dataclass(value) and not isinstance(value, type):
        spare = FOR_PEOPLE if isinstance(value, Strategy) else ()
        counted = [f.name for f in fields(value) if f.name not in spare]
        return [type(value).__name__, *(identity(getattr(value, name)) for name in counted)]
    if isinstance(value, tuple | list):
        return [identity(part) for part in value]
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else value


def fingerprint(base: Base, *texts: Any) -> str:
    """The base model, the text on which forgetting is measured and other tensors, as one hash."""
    digest = hashlib.sha256()
    for learner in (base.learner, *base.extra_encoders):
        for name, value in sorted(learner.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    for tensor in (base.measured.ids, *texts):
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:24]
