"""The written record of a run: `metrics.jsonl` grows with the run, `run.json` sums it up."""

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO, TypeVar

from torch import Tensor

from playground.analysis.probes import PROBES
from playground.analysis.probes import asked as ready
from playground.devices import describe
from playground.errors import Refusal
from playground.parsing import has_form, parse_json
from playground.training.async_checkpoint import kept
from playground.training.checkpoint import put_in_place
from playground.training.events import Evaluated, Incident, Started, Stepped, Stopped
from playground.training.loop import Run
from playground.training.train_state import TrainState

Told = TypeVar("Told")
"""Events, or events and the moments between them; whatever comes is handed on."""

RECENT = 50
"""Steps over which the reported training loss is averaged."""

READ_EVERY = 10
"""Steps whose losses are read at once where the device computes beside Python, which would wait for every one."""


ROWS = ({"step": int, "terms": {str: float}}, {"step": int, "held_out": float})
"""What every row of a curve says: a step with its losses, or an evaluation."""


@dataclass
class Summary:
    """The figures of a run so far, as `playground train` reports them."""

    run: Run
    unigram_entropy: float = 0.0
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    held_out: float = 0.0
    accuracy: dict[str, float] = field(default_factory=dict)
    learner: TrainState | None = None
    reason: str = ""
    compiled: bool = False
    asked: str = ""
    troubles: list[str] = field(default_factory=list)
    recent: deque[Tensor] = field(default_factory=lambda: deque(maxlen=RECENT))

    def read(self, event: object) -> None:
        """Take in one event."""
        match event:
            case Started():
                self.unigram_entropy = event.unigram_entropy
                self.step, self.tokens = event.learner.step, event.learner.tokens
                self.compiled, self.learner = self.run.compiled, event.learner
            case Stepped():
                self.step, self.tokens, self.seconds = event.step, event.tokens, event.seconds
                self._add(*next(iter(event.terms.items())))
            case Evaluated():
                self.held_out, self.accuracy = event.held_out, event.accuracy
            case Incident():
                self.troubles.append(event.sentence)
                self.compiled = self.compiled and event.kind != "compiler"
            case Stopped():
                self.reason = event.reason

    def _add(self, question: str, loss: Tensor) -> None:
        """One more loss to average; where another question is trained from now on, the average begins anew."""
        if question != self.asked:
            self.recent.clear()
        self.asked = question
        self.recent.append(loss)

    def facts(self) -> dict[str, Any]:
        """The promised JSON keys of `playground train`."""
        return {
            "entry": self.run.entry.name,
            "corpus": self.run.corpus.name,
            "corpus_hash": self.run.corpus.hash,
            "device": str(self.run.device),
            "device_name": describe(self.run.device),
            "compiled": self.compiled,
            "seed": self.run.seed,
            "steps": self.step,
            "seconds": round(self.seconds, 3),
            "tokens_per_second": round(self.tokens / self.seconds) if self.seconds else 0,
            "loss": {"train": fmean(map(float, self.recent)) if self.recent else None, "held_out": self.held_out},
            "accuracy": self.accuracy,
            "parameters": 0 if self.learner is None else sum(p.numel() for p in self.learner.parameters),
            "probes": self.probes() if self.reason else {},
            "unigram_entropy": self.unigram_entropy,
            "entropy_bound": self.run.corpus.entropy_bound,
            "stopped": self.reason,
            "troubles": self.troubles,
            "out": str(self.run.out) if self.run.out else None,
        }

    def probes(self) -> dict[str, float]:
        """How often the model prefers the right of two words, by probe, without training for it; a half by chance."""
        if self.learner is None:
            return {}
        return {
            one.gauge.name: one.measure(self.learner.model)
            for one in ready(PROBES, self.run.corpus, self.learner.model)
        }


def recorded(run: Run, events: Iterable[Told], resumed_at: int = 0) -> Iterator[Told]:
    """The same events, written down as they pass; rows after the step where a run resumes are dropped first."""
    if run.out is None:
        yield from events
        return
    summary, events = Summary(run), iter(events)
    began = list(islice(events, 1))  # a run that cannot begin is refused here, before an older record is touched
    try:
        run.out.mkdir(parents=True, exist_ok=True)
        _put_aside(run.out / "checkpoint.safetensors", resumed_at)
        _keep_until(run.out / "metrics.jsonl", resumed_at)
        with (run.out / "metrics.jsonl").open("a", encoding="utf-8", buffering=1) as file:  # every line at once
            waiting: list[object] = []
            try:
                for event in chain(began, events):
                    summary.read(event)
                    waiting.append(event)
                    if not _may_wait(run, event, len(waiting)):
                        _write(file, waiting)
                    yield event
            finally:
                _write(file, waiting)
        _write_whole(run.out / "run.json", json.dumps(summary.facts(), indent=1))
    except OSError as error:
        raise Refusal(f"The folder {run.out} cannot be written ({error.strerror or error}); choose another.") from error


def _may_wait(run: Run, event: object, waiting: int) -> bool:
    """Whether nobody needs a step on the disk yet: its checkpoint is never there before it."""
    if run.device.type == "cpu" or not isinstance(event, Stepped):
        return False
    return waiting < READ_EVERY and event.step % run.save_every != 0


def _write(file: TextIO, waiting: list[object]) -> None:
    """Write down all that waits."""
    rows = [json.dumps(row) + "\n" for event in waiting if (row := _row(event))]
    waiting.clear()
    file.writelines(rows)


def _row(event: object) -> dict[str, Any] | None:
    match event:
        case Stepped():
            return {
                "step": event.step,
                "loss": float(event.loss),
                "terms": {k: float(v) for k, v in event.terms.items()},
                "tokens": event.tokens,
                "graded": event.graded,
                "rate": event.rate,
            }
        case Evaluated():
            return {"step": event.step, "held_out": event.held_out, "accuracy": event.accuracy}
    return None


def _put_aside(path: Path, resumed_at: int) -> None:
    """A new run in a folder does not destroy the last one: its checkpoints stay as `previous...`."""
    if resumed_at:
        return
    if path.is_file():
        os.replace(path, path.with_name("previous.safetensors"))
    for step in kept(path.parent).values():
        os.replace(step, step.with_name(f"previous-{step.name}"))


def _keep_until(path: Path, step: int) -> None:
    """Drop the rows after a step, and a last line that was cut short when its run was."""
    if not path.exists():
        return
    lines = path.read_bytes().splitlines() if step else []
    rows = ((line.decode("utf-8"), row) for line in lines if (row := read_row(line)) is not None)
    _write_whole(path, "".join(f"{line}\n" for line, row in rows if row["step"] <= step))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a curve as they were written; a line that is none is a ValueError."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), 1):
        if (row := read_row(line)) is None:
            raise ValueError(f"line {number} of {path.name} is no row of a curve")
        rows.append(row)
    return rows


def read_row(line: bytes) -> dict[str, Any] | None:
    """A row of a curve; nothing where a line is none."""
    try:
        row = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    return row if any(has_form(row, form) for form in ROWS) and row.get("terms") != {} else None


def _write_whole(path: Path, text: str) -> None:
    """The new content or the old one, never half of it."""
    beside = path.with_name(f"{path.name}.writing")
    beside.write_text(text, encoding="utf-8")
    put_in_place(beside, path)
