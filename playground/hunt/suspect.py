"""A run that is under suspicion: trained sound or with a fault, with everything that can be asked of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch

from playground.analysis.predictions import Predictions, glance_at
from playground.analysis.subject import Subject
from playground.batch import Batch, Tokens
from playground.claims import Arm
from playground.claims.lab import corpus_of, entry_of
from playground.corpora import Corpus, pick
from playground.hunt.fault import Fault
from playground.training import train
from playground.training.curve import Curve, CurvePoint
from playground.training.data import BatchSampler
from playground.training.events import Event
from playground.training.loop import Run, prepared
from playground.training.observe.subjects import of_learner
from playground.training.parallel.workers import as_worker
from playground.training.store.metrics import RunFacts, Summary
from playground.training.train_state import TrainState

EVALUATE_EVERY = 20
"""Steps between two evaluations."""


@dataclass(frozen=True, eq=False)
class Suspect:
    """A finished run of a fault's entry, sound or `faulty`: its learner, its curve, and what it reported."""

    fault: Fault
    faulty: bool
    run: Run
    learner: TrainState
    points: tuple[CurvePoint, ...]
    facts: RunFacts

    @property
    def held_out_loss(self) -> float:
        """The held-out loss at the end, in nats for each scored position."""
        loss = self.facts["loss"]["held_out"]
        return float("nan") if loss is None else loss

    @property
    def train_loss(self) -> float:
        """The mean training loss of the last steps."""
        loss = self.facts["loss"]["train"]
        return float("nan") if loss is None else loss

    @property
    def corpus(self) -> Corpus:
        return self.run.corpus

    @cached_property
    def sampler(self) -> BatchSampler:
        """What draws its training batches."""
        return BatchSampler.of_learner(self.learner, self.corpus)

    def batch(self, rows: int = 32, draw: int = 0) -> Batch:
        """Held-out rows as the run's objective makes them into a batch; another `draw` has other gaps."""
        return self.learner.batch(self.rows(rows), "hunt", draw)

    def rows(self, count: int = 32) -> Tokens:
        """The first held-out rows."""
        held_out = self.sampler.evaluation()
        return pick(held_out, torch.arange(min(count, len(held_out.ids))))

    @cached_property
    def glance(self) -> Predictions:
        """The first held-out row as the run's objective makes it, and what the model answers."""
        model = self.learner.model
        was = model.training
        try:
            return glance_at(model.eval(), self.batch(1), self.learner.step)
        finally:
            model.train(was)

    @property
    def figures(self) -> dict[str, float]:
        """What every run reports: losses, their gap, accuracy, and the share of positions that are scored."""
        accuracy, last = next(iter(self.facts["accuracy"].values()), float("nan")), self.points[-1]
        return {
            "training loss": self.train_loss, "held-out loss": self.held_out_loss,
            "gap": self.held_out_loss - self.train_loss, "accuracy": accuracy,
            "scored positions for each token": last.scored / max(1, last.tokens),
        }  # fmt: skip

    @property
    def subject(self) -> Subject:
        """Its model for the instruments, which themselves are sound."""
        return of_learner(self.learner, self.corpus, "suspect" if self.faulty else "sound")


def train_suspect(
    fault: Fault, faulty: bool, seed: int = 0, see: Callable[[Event], object] = lambda event: None
) -> Suspect:
    """Train the entry of a fault, sound or with the fault; `see` gets every event."""
    run, curve, points = _run(fault, faulty, seed), Curve(), list[CurvePoint]()
    with as_worker():
        learner = prepared(run).learner
        learner = fault.change_learner(learner) if faulty else learner
        summary = Summary(run)
        for event in train(run, learner):
            summary.read(event)
            points += curve.read(event)
            see(event)
    return Suspect(fault, faulty, run, learner, tuple(points), summary.facts())


def _run(fault: Fault, faulty: bool, seed: int) -> Run:
    entry, corpus = entry_of(Arm(fault.entry, fault.settings, steps=fault.steps)), corpus_of(fault.corpus, 0)
    if faulty:
        entry, corpus = fault.change_entry(entry), fault.change_corpus(corpus)
    return Run(entry, corpus, seed, torch.device("cpu"), evaluate_every=EVALUATE_EVERY)
