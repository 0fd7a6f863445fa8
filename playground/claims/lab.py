"""Trains, adapts and measures the arms of a claim; models are kept in the cache, for claims share them."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from playground.analysis.finding import Finding
from playground.analysis.instrument import instrument_named
from playground.analysis.subject import Subject
from playground.claims.claim import Arm, Claim
from playground.compression.compare import CompressionSpec, Outcome, compress
from playground.compression.method import UNCOMPRESSED, read_pipeline
from playground.corpora import Corpus, open_corpus
from playground.errors import UserError
from playground.finetuning.comparing.compare import Comparison, compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import find_task
from playground.finetuning.run.base import Base, base_of
from playground.finetuning.run.measure import Result
from playground.folders import cache_folder
from playground.knob import as_written, spelt, turn
from playground.parsing import parse_json
from playground.training import checkpoint
from playground.training.loop import Run, prepared
from playground.training.observe.subjects import of_learner
from playground.training.store import ready_made
from playground.training.store.metrics import RunFacts
from playground.training.store.ready_made import ReadyMade
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_to_train
from playground.zoo.changes import FieldChange, trained_changes
from playground.zoo.preset import FAST

MOST_KEPT = 200
"""Models of claims that stay in the cache, about 2 MB each."""

ARM = "arm"
"""The group of what is set for the arms themselves."""

WAIT = 3600.0
"""Seconds to wait for a model that another process trains."""


def models_folder() -> Path:
    """The folder of the models of claims."""
    return cache_folder("claims")


def entry_of(arm: Arm) -> Entry:
    """The entry of an arm with its knobs and its steps."""
    entry = FAST(entry_to_train(arm.entry)).turned(settings_of(arm))
    return replace(entry, recipe=turn(entry.recipe, {"steps": arm.steps})) if arm.steps else entry


def settings_of(arm: Arm) -> dict[str, str]:
    """The knobs of an arm's entry, by name."""
    return spelt(f"settings({arm.settings})")[1] if arm.settings.strip() else {}


def differences(claim: Claim) -> list[FieldChange]:
    """Everything in which the arms of a claim differ from its first one."""
    first, *others = claim.sides.values()
    return list(dict.fromkeys(change for other in others for change in _between(first, other)))


def _between(one: Arm, other: Arm) -> Iterator[FieldChange]:
    for name in (f.name for f in fields(Arm) if getattr(one, f.name) != getattr(other, f.name)):
        yield FieldChange(ARM, name, as_written(getattr(one, name)), as_written(getattr(other, name)))
    if (one.entry, one.settings) != (other.entry, other.settings):
        yield from trained_changes(entry_of(one), entry_of(other))
    corpora = [arm.corpus or entry_of(arm).corpus for arm in (one, other)]
    if one.corpus == other.corpus and corpora[0] != corpora[1]:
        yield FieldChange(ARM, "corpus", *corpora)


@cache
def corpus_of(name: str, tokens: int) -> Corpus:
    """A generated corpus; its own size with 0 tokens."""
    return open_corpus(name, tokens=tokens or None)


@dataclass
class Lab:
    """What one seed of a claim has made so far.

    `models` are the seconds of training by the name of the run, `waited` the seconds until they were there.
    """

    folder: Path = field(default_factory=models_folder)
    models: dict[str, float] = field(default_factory=dict)
    waited: float = 0.0
    known: dict[Any, Any] = field(default_factory=dict)

    def corpus(self, arm: Arm) -> Corpus:
        """The corpus of an arm."""
        return corpus_of(arm.corpus or entry_of(arm).corpus, arm.tokens)

    def run(self, arm: Arm, seed: int) -> ReadyMade:
        """The run that trains the model of an arm, which is trained where it is not kept."""
        made, began = _made(arm, seed), time.perf_counter()
        if made.name in self.models:
            return made
        for _ in ready_made.build(made, self.folder, saves=1, most_kept=MOST_KEPT, wait=WAIT):
            pass
        found = ready_made.facts(made, self.folder)
        assert found is not None
        self.models[made.name] = found["seconds"]
        self.waited += time.perf_counter() - began
        return made

    def name_of_run(self, arm: Arm, seed: int) -> str:
        """The run behind the model of an arm; empty where none was trained."""
        name = _made(arm, seed).name if arm.steps else ""
        return name if name in self.models else ""

    def learner(self, arm: Arm, seed: int) -> TrainState:
        """The trained model of an arm; a random one after 0 steps."""

        def make() -> TrainState:
            if arm.steps == 0:
                run = Run(entry_of(arm), self.corpus(arm), 0 if arm.one_model else seed, torch.device("cpu"))
                return prepared(run).learner
            return checkpoint.load(self.run(arm, seed).folder(self.folder)).learner

        return self.once(("learner", pretraining(arm), seed), make)

    def facts(self, arm: Arm, seed: int) -> RunFacts:
        """What `playground train` reports of the run."""
        return parse_json((self.run(arm, seed).folder(self.folder) / "run.json").read_text(encoding="utf-8"))

    def subject(self, arm: Arm, seed: int) -> Subject:
        """The model of an arm for instruments."""
        learner = self.learner(arm, seed)
        return self.once(("subject", id(learner)), lambda: replace(of_learner(learner, self.corpus(arm)), seed=seed))

    def finding(self, arm: Arm, seed: int) -> Finding:
        """What the instrument of an arm finds."""
        name, settings = spelt(arm.instrument)
        instrument = instrument_named(name)
        subject = self.subject(arm, seed)
        return self.once(
            ("finding", id(subject), arm.instrument),
            lambda: instrument.look(subject, turn(instrument.settings, settings)),
        )

    def base(self, arm: Arm, seed: int) -> Base:
        """The model of an arm as the start of fine-tuning."""
        return base_of(self.learner(arm, seed), self.corpus(arm))

    def tuned(self, arm: Arm, seed: int) -> Result:
        """The model of an arm fine-tuned on its task."""

        def make() -> Result:
            spec = ComparisonSpec(
                "", arm.task, (arm.strategy,), (arm.train_size,), 1, seed, arm.tuning_steps, parallelism="processes"
            )
            base = self.base(arm, seed)
            *_, last = compare(base, self.corpus(arm).tokenizer, spec, task=find_task(arm.task))
            assert isinstance(last, Comparison)
            [[result]] = last.outcomes.values()
            return result

        return self.once(("tuned", replace(arm, figure="", instrument="", pipeline=""), seed), make)

    def compressed(self, arm: Arm, seed: int) -> Outcome:
        """The fine-tuned model of an arm made smaller by its pipeline."""
        whole = arm.pipeline == UNCOMPRESSED
        asked = replace(arm, figure="", pipeline="int8" if whole else arm.pipeline)

        def make() -> Mapping[str, tuple[Outcome, ...]]:
            spec = CompressionSpec("", arm.task, (asked.pipeline,), 1, seed, arm.train_size, arm.tuning_steps)
            base, task = self.base(arm, seed), find_task(arm.task)
            *_, last = compress(base, self.corpus(arm).tokenizer, spec, task=task)
            return last.outcomes

        outcomes = self.once(("compressed", asked, seed), make)
        return outcomes[UNCOMPRESSED if whole else read_pipeline(arm.pipeline).name][0]

    def once(self, key: Any, make: Any) -> Any:
        """A value that is made the first time it is asked for."""
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def figure(self, claim: Claim, arm: Arm, seed: int) -> float:
        """The figure of an arm with a seed."""
        if claim.compute is not None:
            return float(claim.compute(self, arm, seed))
        if arm.pipeline:
            return _read(_numbers(self.compressed(arm, seed)), arm.figure, claim)
        if arm.task:
            return _read(_numbers(self.tuned(arm, seed)), arm.figure, claim)
        if arm.instrument:
            return _read({n.name: n.value for n in self.finding(arm, seed).numbers}, arm.figure, claim)
        return _read(_trained(self.facts(arm, seed)), arm.figure, claim)


def _made(arm: Arm, seed: int) -> ReadyMade:
    entry = entry_of(arm)
    return ReadyMade(entry, arm.corpus or entry.corpus, 0 if arm.one_model else seed, arm.tokens)


def pretraining(arm: Arm) -> Arm:
    """What an arm trains before anything is adapted or measured; everything else is left out."""
    kept = ("entry", "settings", "corpus", "tokens", "steps", "one_model")
    return Arm(**{name: getattr(arm, name) for name in kept})


def _numbers(value: Result | Outcome) -> dict[str, float]:
    """The numbers of an outcome by name, those that its task measures too."""
    every = {f.name: getattr(value, f.name) for f in fields(value)}
    parts = {f.name: getattr(value.size, f.name) for f in fields(value.size)} if isinstance(value, Outcome) else {}
    plain = {name: float(v) for name, v in (every | parts).items() if isinstance(v, int | float)}
    return {**value.measured, **plain}


def _trained(facts: RunFacts) -> dict[str, float]:
    """The figures of a training: losses and accuracies, also by target, and their gap."""
    losses = {
        f"{part} loss of {name}": each[part] for name, each in facts["losses"].items() for part in ("train", "held_out")
    }
    accuracies = {f"accuracy of {name}": value for name, value in facts["accuracy"].items()}
    train, held_out = facts["loss"]["train"], facts["loss"]["held_out"]
    known = {
        "train loss": train, "held-out loss": held_out, "parameters": float(facts["parameters"]),
        "gap": None if train is None or held_out is None else held_out - train, "seconds": facts["seconds"],
    }  # fmt: skip
    return {name: value for name, value in (known | losses | accuracies | facts["probes"]).items() if value is not None}


def _read(numbers: Mapping[str, float], name: str, claim: Claim) -> float:
    if name not in numbers:
        raise UserError(f"{claim.name} reads the figure {name!r}; there are {', '.join(numbers)}.")
    return numbers[name]
