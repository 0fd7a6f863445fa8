"""Replays: what a model makes of one fixed batch at some steps of its training, shown without a kernel."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.analysis.predictions import ForwardTrace, read
from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.parsing import form_of, has_form
from playground.rng import generator
from playground.trace.json_schema import Frame, Term
from playground.trace.model_frames import FORWARD, numbers, with_numbers
from playground.trace.rebuild import record_of
from playground.training import checkpoint
from playground.training.events import Checkpointed, Started, Stepped, Stopped
from playground.training.loop import Run
from playground.training.observe.look import draw_that_asks, to_watch
from playground.training.store.metrics import AnyEvent, read_rows
from playground.training.train_state import TrainState

MOST = 60
"""Moments of one run."""

FILE = "moments.safetensors"

GROWTH = 1.12
"""Where the last step is unknown, the factor from the step of one moment to that of the next."""


@cache
def spaced(last: int, most: int = MOST) -> tuple[int, ...]:
    """At most `most` steps from 0 to the last, ever further apart, since a model changes fastest at first."""
    steps = [0, 1] if last else [0]
    while steps[-1] < last:
        left = max(1, most - len(steps))
        steps.append(max(steps[-1] + 1, min(last, round(steps[-1] * (last / steps[-1]) ** (1 / left)))))
    return tuple(steps)


RECORD = {"title": str, "frames": [form_of(Frame)], "terms?": [form_of(Term)]}
MOMENT = {"step": int, "model": str, "captions": dict.fromkeys(FORWARD, str)}
KEPT = {"record": RECORD, "moments": [MOMENT], "levels": {str: float}, "unit?": str}
"""The form of the header of a file of moments."""


@dataclass
class ReplayRecorder:
    """The fixed batch, its frames, and the model's forward passes at some steps; only its lists change."""

    model: str
    corpus: str
    batch: Batch
    record: dict[str, Any]
    last: int | None = None
    steps: list[int] = field(default_factory=list)
    seen: list[ForwardTrace] = field(default_factory=list)

    @classmethod
    def of(cls, learner: TrainState, corpus: str, text: Tokens, last: int | None = None) -> "ReplayRecorder":
        """The text under the learner's objective, corrupted once for all moments."""
        objective, device = learner.objective, learner.device
        text = text.to(device)
        seed = draw_that_asks(objective, text) or 0
        steps = objective.steps(text, generator(seed, "glance", device=device))
        about = {
            "title": f"{learner.entry.title} while it learns",
            "subtitle": learner.entry.idea,
            "source": learner.entry.paper,
        }
        record = record_of(objective, steps, learner.model.masked, about)
        return cls(learner.entry.name, corpus, steps[-1].batch, record, last)

    def levels(self, run: Run) -> dict[str, float]:
        """Levels for a loss over words: the unigram baseline and, where known, the entropy of the grammar."""
        target = next(target for part in self.batch.with_auxiliary for target in part.targets)
        if not (target.kind.plain and target.kind.names_words):
            return {}
        bound = run.entry.bound(run.corpus)
        return {"unigram baseline": run.corpus.unigram_entropy} | ({} if bound is None else {"entropy bound": bound})

    @property
    def unit(self) -> str:
        """The unit of the loss that is reported."""
        return next(target for part in self.batch.with_auxiliary for target in part.targets).kind.unit

    def due(self, step: int) -> bool:
        if not self.steps:
            return True
        if self.last is None:
            return step >= ceil(self.steps[-1] * GROWTH) and step > self.steps[-1]
        return step in spaced(self.last)

    def look(self, learner: TrainState) -> None:
        """Record a moment, unless this step has one."""
        if not self.steps or self.steps[-1] < learner.step:
            self.steps.append(learner.step)
            self.seen.append(read(learner.model, self.batch))

    def replay(self, curve: "RecordedCurve") -> "Replay":
        """All that a page needs to show the run again, at no more than `MOST` well-spaced moments."""
        due = spaced(self.steps[-1])
        kept = sorted({min(range(len(self.steps)), key=lambda k: abs(self.steps[k] - step)) for step in due})
        shapes = {m["name"]: m["shape"] for m in self.record["frames"][-1]["matrices"]}
        attention = {
            name: torch.stack([self.seen[k].weights[name][:, :, :n, :m] for k in kept])
            for name, (n, m) in shapes.items()
            if name in self.seen[0].weights
        }
        return Replay(self.record, tuple(self._moment(k) for k in kept), attention, curve)

    def _moment(self, k: int) -> dict[str, Any]:
        step = self.steps[k]
        when = f"after {step} step{'s' * (step != 1)} on {self.corpus}" if step else "before training"
        return numbers(self.record, self.seen[k], f"{self.model} {when}", layers=()) | {"step": step}


@dataclass(frozen=True)
class RecordedCurve:
    """The losses of one target in a unit, as pairs of step and loss, and the levels to compare them with."""

    training: Sequence[tuple[int, float]] = ()
    held_out: Sequence[tuple[int, float]] = ()
    levels: Mapping[str, float] = field(default_factory=dict)
    target: str = ""
    unit: str = "nats"


@dataclass(frozen=True)
class Replay:
    """A recorded run: the frames, the model's numbers at every moment, and the curve.

    `attention` holds bytes `[moments, layers, h, n, m]` by matrix; 255 is all of the attention of a query position.
    """

    record: dict[str, Any]
    moments: tuple[dict[str, Any], ...]
    attention: dict[str, Tensor]
    curve: RecordedCurve

    @property
    def last(self) -> dict[str, Any]:
        """The frames at the last moment, with those of the model."""
        return with_numbers(self.record, self.moments[-1])

    def after(self, earlier: "Replay") -> "Replay":
        """The same with the moments of an earlier part of the run before it, where both watched the same text."""
        first = self.moments[0]["step"]
        old = [k for k, moment in enumerate(earlier.moments) if moment["step"] < first]
        if not old or earlier.record != self.record:
            return self
        attention = {name: torch.cat([earlier.attention[name][old], now]) for name, now in self.attention.items()}
        return replace(self, moments=(*(earlier.moments[k] for k in old), *self.moments), attention=attention)


def watched(run: Run, events: Iterable[AnyEvent], text: Tokens | None = None) -> Iterator[AnyEvent]:
    """The same events; their moments are written into the folder of the run, where it has one."""
    return iter(events) if run.out is None else _watched(run, run.out, events, text)


def _watched(run: Run, folder: Path, events: Iterable[AnyEvent], text: Tokens | None) -> Iterator[AnyEvent]:
    recorder, learner, earlier = None, None, None
    try:
        for event in events:
            if isinstance(event, Started):
                learner = event.learner
                text = text or to_watch(run.corpus, learner.objective, learner.entry.recipe.seq_len)
                recorder = ReplayRecorder.of(learner, run.corpus.name, text, run.last)
                with suppress(UserError):  # moments that cannot be read: the replay begins anew
                    earlier = load(folder) if learner.step else None
            assert recorder is not None, "a run begins with Started"
            assert learner is not None
            if isinstance(event, Stopped) or (isinstance(event, Started | Stepped) and recorder.due(learner.step)):
                recorder.look(learner)
            if isinstance(event, Checkpointed | Stopped):
                _save(folder, recorder, run, earlier)
            yield event
    except GeneratorExit:  # stopped by hand: the moments since the last checkpoint are kept too
        if recorder is not None and learner is not None and learner.step:
            recorder.look(learner)
            _save(folder, recorder, run, earlier)
        raise


def _save(folder: Path, recorder: ReplayRecorder, run: Run, earlier: Replay | None) -> None:
    """Write the moments beside the checkpoint; the curve is in `metrics.jsonl` already."""
    replay = recorder.replay(RecordedCurve(levels=recorder.levels(run), unit=recorder.unit))
    replay = replay.after(earlier) if earlier else replay
    levels = dict(replay.curve.levels)
    about = {"format": checkpoint.FORMAT, "record": replay.record, "moments": replay.moments, "levels": levels}
    about |= {"unit": replay.curve.unit}
    checkpoint.write_whole(folder / FILE, {f"attention.{n}": t for n, t in replay.attention.items()}, about)


def load(folder: Path) -> Replay:
    """The replay in a run's folder, with the curve."""
    if not (folder / FILE).is_file():
        raise UserError(f"There is no {FILE} in {folder}: that run recorded no replay; train it again.")
    about, tensors = checkpoint.read(folder / FILE)
    attention = {name.removeprefix("attention."): tensor for name, tensor in tensors.items()}
    try:
        _check(about, attention)
        rows = read_rows(folder / "metrics.jsonl")
        names = next((list(row["terms"]) for row in rows if "terms" in row), [])
        training = [(row["step"], next(iter(row["terms"].values()))) for row in rows if "terms" in row]
        held_out = [(row["step"], row["held_out"]) for row in rows if "held_out" in row]
        curve = RecordedCurve(
            training, held_out, about["levels"], names[0] if len(names) > 1 else "", about.get("unit", "nats")
        )
        return Replay(about["record"], tuple(about["moments"]), attention, curve)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"The replay in {folder} is damaged or of another version ({error}); train it again."
        ) from error


def _check(about: dict[str, Any], attention: Mapping[str, Tensor]) -> None:
    """Raise a ValueError unless the frames and the moments can be drawn."""
    if not has_form(about, KEPT) or not about["moments"] or not about["record"]["frames"]:
        raise ValueError("parts of them are missing or of another type")
    for matrix in (matrix for frame in about["record"]["frames"] for matrix in frame["matrices"]):
        n, m = matrix["shape"]
        if min(n, m) < 1 or len(b64decode(matrix["states"])) != n * m:
            raise ValueError(f"the matrix {matrix['name']} has no {n} x {m} cells")
    for name, weights in attention.items():
        if weights.dtype != torch.uint8 or weights.dim() != 5 or len(weights) != len(about["moments"]):
            raise ValueError(f"the attention {name} is {weights.dtype} of shape {list(weights.shape)}")
