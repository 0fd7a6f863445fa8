"""The record of a run in its folder: `metrics.jsonl` grows with the run, `run.json` sums it up."""

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO, TypedDict, TypeVar

import torch
from torch import Tensor

from playground.analysis.probes import PROBES, asked
from playground.devices import describe
from playground.errors import writing
from playground.objectives.mask_overrides import to_json
from playground.parsing import dump_json, has_form, parse_json
from playground.training.checkpoint import kept, put_in_place
from playground.training.events import Evaluated, Incident, PhaseStarted, Started, Stepped, Stopped, Unread
from playground.training.loop import Run
from playground.training.train_state import TrainState

AnyEvent = TypeVar("AnyEvent")
"""Events, or events and moments."""

RECENT = 50
"""Steps over which the reported training loss is averaged."""

ROWS = ({"step": int, "terms": {str: float}}, {"step": int, "held_out": float})
"""The forms of a row of a curve: a step with its losses, or an evaluation."""


class LossFacts(TypedDict):
    """A loss for each scored position."""

    train: float | None
    """Mean of the last 50 training steps; null before the first."""
    held_out: float | None
    """On held-out text; null where it is not finite."""
    unit: str
    """Its unit, such as nats."""


class RunFacts(TypedDict):
    """One trained model; `run.json` in its folder holds the same."""

    entry: str
    mask_overrides: list[dict[str, Any]]
    """The rules that were set by hand; `--mask-overrides` takes them back."""
    corpus: str
    corpus_hash: str
    """Hash of the content of the corpus."""
    device: str
    device_name: str
    """The name of the device in words."""
    seed: int
    steps: int
    """The step that the run has reached."""
    seconds: float
    """Training time."""
    tokens_per_second: int
    """Tokens of text."""
    phase: str
    """The last phase of training."""
    loss: LossFacts
    """Loss of the first target."""
    losses: dict[str, LossFacts]
    """Loss of each target."""
    accuracy: dict[str, float]
    """Share of right answers on held-out text, by target."""
    gauges: dict[str, float]
    """What else was measured on held-out text, such as the effective rank of vectors that are targets."""
    parameters: int
    """Parameters that are trained."""
    probes: dict[str, float]
    """Share of right choices between two words, by probe; a half by chance."""
    unigram_entropy: float
    """Entropy of the corpus, in nats for each token, if only the frequency of a token is known."""
    entropy_bound: float | None
    """Lowest loss in nats that the grammar of a generated corpus allows; null where it is not known."""
    stopped: str
    """Why the run ended: steps, seconds, asked or diverged."""
    troubles: list[str]
    """What went wrong, in sentences."""
    out: str | None
    """The folder of the run; null where nothing is kept."""


class StepRow(TypedDict):
    """A row of `metrics.jsonl`: a training step."""

    step: int
    loss: float
    """Loss of the first target for each scored position."""
    terms: dict[str, float]
    """Loss of each target."""
    tokens: int
    """Tokens of text so far."""
    scored: int
    """Scored positions so far."""
    rate: float
    """Learning rate."""


class EvaluationRow(TypedDict):
    """A row of `metrics.jsonl`: an evaluation on held-out text."""

    step: int
    held_out: float
    accuracy: dict[str, float]
    gauges: dict[str, float]


MetricsRow = StepRow | EvaluationRow


@dataclass
class Summary:
    """The numbers of a run so far, as `playground train` reports them."""

    run: Run
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    held_out: float = 0.0
    accuracy: dict[str, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    learner: TrainState | None = None
    reason: str = ""
    target: str = ""
    phase: str = ""
    troubles: list[str] = field(default_factory=list)
    recent: dict[str, deque[Tensor]] = field(default_factory=dict)
    tested: dict[str, float] = field(default_factory=dict)

    def read(self, event: object) -> None:
        """Take in one event."""
        match event:
            case Started():
                self.step, self.tokens = event.learner.step, event.learner.tokens
                self.learner = event.learner
            case Stepped():
                self.step, self.tokens, self.seconds = event.step, event.tokens, event.seconds
                self.target = next(iter(event.terms))
                for target, loss in event.terms.items():
                    self.recent.setdefault(target, deque(maxlen=RECENT)).append(loss)
            case PhaseStarted():
                self.phase = event.name
                self.recent.clear()
            case Evaluated():
                self.held_out, self.tested = event.held_out, event.terms
                self.accuracy, self.gauges = event.accuracy, event.gauges
            case Incident():
                self.troubles.append(event.sentence)
            case Stopped():
                self.reason = event.reason

    def facts(self) -> RunFacts:
        """The JSON keys of `playground train`."""
        trained = {name: fmean(torch.stack([*losses]).tolist()) for name, losses in self.recent.items()}
        entry = (self.learner or self.run).entry
        return {
            "entry": self.run.entry.name,
            "mask_overrides": to_json(self.run.entry.mask_overrides),
            "corpus": self.run.corpus.name,
            "corpus_hash": self.run.corpus.hash,
            "device": str(self.run.device),
            "device_name": describe(self.run.device),
            "seed": self.run.seed,
            "steps": self.step,
            "seconds": round(self.seconds, 3),
            "tokens_per_second": round(self.tokens / self.seconds) if self.seconds else 0,
            "phase": self.phase,
            "loss": {"train": trained.get(self.target), "held_out": self.held_out, "unit": entry.unit(self.target)},
            "losses": {
                name: {"train": trained.get(name), "held_out": loss, "unit": entry.unit(name)}
                for name, loss in self.tested.items()
            },
            "accuracy": self.accuracy,
            "gauges": self.gauges,
            "parameters": 0 if self.learner is None else sum(p.numel() for p in self.learner.parameters),
            "probes": self.probes() if self.reason else {},
            "unigram_entropy": self.run.corpus.unigram_entropy,
            "entropy_bound": self.run.corpus.entropy_bound,
            "stopped": self.reason,
            "troubles": self.troubles,
            "out": str(self.run.out) if self.run.out else None,
        }

    def probes(self) -> dict[str, float]:
        """How often the model prefers the right one of two words, by probe; a half by chance."""
        if self.learner is None:
            return {}
        model = self.learner.model
        return {probe.gauge.name: probe.measure(model) for probe in asked(PROBES, self.run.corpus, model)}


def recorded(run: Run, events: Iterable[AnyEvent], resumed_at: int = 0) -> Iterator[AnyEvent]:
    """The same events, written down as they pass; rows after the step where a run resumes are dropped first."""
    if run.out is None:
        yield from events
        return
    summary, events = Summary(run), iter(events)
    began = list(islice(events, 1))  # a run that cannot begin is refused here, before an older record is touched
    with writing(run.out):
        run.out.mkdir(parents=True, exist_ok=True)
        if not resumed_at:
            _put_aside(run.out / "checkpoint.safetensors")
        _keep_until(run.out / "metrics.jsonl", resumed_at)
        with (run.out / "metrics.jsonl").open("a", encoding="utf-8", buffering=1) as file:  # every line at once
            unread = Unread()
            try:
                for event in chain(began, events):
                    summary.read(event)
                    _write(file, unread.after(event))
                    yield event
            finally:
                _write(file, unread.rest())
        write_text(run.out / "run.json", dump_json(summary.facts(), indent=1))


def _write(file: TextIO, events: Iterable[Stepped | Evaluated]) -> None:
    file.writelines(json.dumps(_row(event)) + "\n" for event in events)


def _row(event: Stepped | Evaluated) -> MetricsRow:
    if isinstance(event, Evaluated):
        return {"step": event.step, "held_out": event.held_out, "accuracy": event.accuracy, "gauges": event.gauges}
    loss, terms = event.read()
    return {
        "step": event.step,
        "loss": loss,
        "terms": terms,
        "tokens": event.tokens,
        "scored": event.scored,
        "rate": event.rate,
    }


def _put_aside(path: Path) -> None:
    """Rename the checkpoints of the last run in a folder to `previous...`, so that a new run does not replace them."""
    if path.is_file():
        os.replace(path, path.with_name("previous.safetensors"))
    for step in kept(path.parent).values():
        os.replace(step, step.with_name(f"previous-{step.name}"))


def _keep_until(path: Path, step: int) -> None:
    """Drop the rows after a step, and a last line that was cut short."""
    if not path.exists():
        return
    lines = path.read_bytes().splitlines() if step else []
    rows = ((line.decode("utf-8"), row) for line in lines if (row := _read_row(line)) is not None)
    write_text(path, "".join(f"{line}\n" for line, row in rows if row["step"] <= step))


def read_rows(path: Path) -> list[MetricsRow]:
    """The rows of a curve; any other line is a ValueError."""
    rows: list[MetricsRow] = []
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), 1):
        if (row := _read_row(line)) is None:
            raise ValueError(f"line {number} of {path.name} is not a row of a curve")
        rows.append(row)
    return rows


def _read_row(line: bytes) -> MetricsRow | None:
    """A row of a curve, None for any other line."""
    try:
        row = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    return row if any(has_form(row, form) for form in ROWS) and row.get("terms") != {} else None


def write_text(path: Path, text: str) -> None:
    """Write a temporary file, then rename it, so that a reader never sees half of it."""
    temporary = path.with_name(f"{path.name}.writing")
    temporary.write_text(text, encoding="utf-8")
    put_in_place(temporary, path)
