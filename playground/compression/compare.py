"""Pipelines side by side over seeds: what each keeps of the answers, and what it costs by each meter."""

import hashlib
import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import permutations
from math import comb
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypedDict

from playground import __version__
from playground.compression.classifier import Classifier, fine_tuned, score_all
from playground.compression.lost_words import LostWord, LostWords, held_out_answers, lost_words
from playground.compression.meters import (
    BATCHES,
    Flip,
    Latency,
    Size,
    WeightMatrix,
    answers,
    depth,
    flips,
    latencies,
    operations,
    size,
    speed_curve,
)
from playground.compression.method import UNCOMPRESSED, Compressed, Pipeline, TaskData, read_pipeline
from playground.compression.storage import load, save
from playground.errors import UserError
from playground.finetuning.comparing.compare import TEST_TEXTS, count_different, describe_same
from playground.finetuning.comparing.significance import (
    SEEDS,
    PairFacts,
    Verdict,
    at_chance,
    critical,
    describe_power,
    judge,
    leader,
    top_two,
)
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.record import Record, fingerprint, identity
from playground.finetuning.strategy.losses import describe_fewer
from playground.finetuning.strategy.strategy import texts_for
from playground.knob import check_knobs, knob
from playground.parsing import LIMITS
from playground.tokenizing import Tokenizer
from playground.training.parallel.seeds import MeanAndSd, spread, spread_if_measured
from playground.training.parallel.workers import Processes, computed_as_worker

MOST_PIPELINES = 12

Meter = Literal["bytes", "operations", "seconds"]
METERS: tuple[Meter, ...] = ("bytes", "operations", "seconds")
"""What the Pareto frontier is drawn over: bytes of the file, operations per text, seconds of a batch of 1."""


@dataclass(frozen=True)
class CompressionSpec:
    """What a person asks for; `pipelines` are lines such as "DistilBERT, int8", the uncompressed model comes first."""

    base: str = "base"
    task: str = "sentiment"
    pipelines: tuple[str, ...] = ("DistilBERT", "int8")
    seeds: int = knob(SEEDS, 1, LIMITS["seeds"], unit="seeds")
    seed: int = 0
    train_size: int = knob(64, 2, LIMITS["texts"], unit="labelled texts")
    steps: int = knob(80, 1, LIMITS["steps"], unit="steps")
    workers: int = knob(1, 1, LIMITS["processes"], unit="processes")

    @property
    def chosen(self) -> tuple[Pipeline, ...]:
        """The pipelines, each once, the uncompressed model first."""
        every = (Pipeline(), *map(read_pipeline, self.pipelines))
        return tuple({pipeline.name: pipeline for pipeline in every}.values())

    @property
    def power(self) -> str:
        """What its seeds can find, in words: every pipeline is compared with every other one; nothing without any."""
        return describe_power(self.seeds, comb(len(self.chosen), 2)) if len(self.chosen) > 1 else ""

    def check(self) -> None:
        """Refuse what cannot be run."""
        if len(self.chosen) < 2:
            raise UserError("No pipeline is named; name at least one, such as DistilBERT.")
        if len(self.chosen) > MOST_PIPELINES + 1:
            raise UserError(f"{len(self.chosen) - 1} pipelines are named; compare at most {MOST_PIPELINES} at once.")
        check_knobs(self)


@dataclass(frozen=True)
class Outcome:
    """One pipeline with one seed: what is kept, what it weighs and computes, and where its file lies.

    `layers_used` is the mean number of layers that a text took, `flipped` the number of unseen texts with another
    answer than the uncompressed model's, `seconds` how long it took to make.
    """

    pipeline: str
    seed: int
    accuracy: float
    measured: Mapping[str, float]
    pretraining_loss: float | None
    size: Size
    operations: float
    layers_used: float
    flipped: int
    flips: tuple[Flip, ...]
    lost_words: LostWords
    layers: tuple[tuple[int, ...], ...]
    curves: Mapping[str, Any]
    seconds: float
    folder: str


@dataclass(frozen=True)
class Work:
    """What all trials share: the base, texts by seed, and the folder of the files."""

    base: Base
    task: Task
    train: Mapping[int, Dataset]
    test: Mapping[int, Dataset]
    steps: int
    folder: Path

    def data(self, seed: int) -> TaskData:
        return TaskData(self.base, self.task, self.train[seed], self.test[seed], seed, self.steps)

    def folder_of(self, pipeline: Pipeline, seed: int) -> Path:
        """The folder of a model's file; its name holds a hash, for a pipeline may be long."""
        short = hashlib.sha256(pipeline.name.encode()).hexdigest()[:8]
        plain = "".join(c if c.isalnum() else "_" for c in pipeline.name)[:40].strip("_")
        return self.folder / f"{plain}-{short}" / f"seed-{seed}"

    def key(self, pipeline: Pipeline, seed: int) -> str:
        """Everything on which the numbers of a trial depend, hashed."""
        values = [self._shared[seed], [identity(m.step) for m in pipeline.methods], seed]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:24]

    @cached_property
    def _shared(self) -> dict[int, list[str | int]]:
        """What the trials of a seed have in common."""
        shared: dict[int, list[str | int]] = {}
        for seed, train in self.train.items():
            texts = [tensor for each in (train, self.test[seed]) for tensor in (each.tokens.ids, each.labels)]
            known = fingerprint(self.base, *texts)
            shared[seed] = [known, len(train.labels), self.steps, self.task.name, __version__]
        return shared


Job = tuple[Pipeline, int]
"""A pipeline and a seed."""


def trial(work: Work, job: Job) -> Outcome:
    """Make one compressed model, measure it, and write it."""
    pipeline, seed = job
    began, data = time.perf_counter(), work.data(seed)
    if pipeline.methods:
        teacher = load(work.folder_of(Pipeline(), seed), work.task).classifier
        made = pipeline.apply(teacher, data)
    else:
        teacher = fine_tuned(data.base, data.train, data.steps, data.batch_size, seed)
        made = Compressed.whole(teacher)
    seconds = time.perf_counter() - began
    path = save(work.folder_of(pipeline, seed), made, data.base.words)
    return _measured(pipeline, made, teacher, data, path, seconds)


def _measured(
    pipeline: Pipeline, made: Compressed, teacher: Classifier, data: TaskData, path: Path, seconds: float
) -> Outcome:
    test, model = data.test, made.classifier
    scores = score_all(model, test)
    measured = test.answer.measure(scores, test.labels)
    own, before = data.base.remember(
        ("uncompressed", data.seed), lambda: (answers(score_all(teacher, test), test), held_out_answers(teacher, data))
    )
    number, changed = flips(own, answers(scores, test), test, data.base.words)
    after = before if model is teacher else held_out_answers(model, data)
    lost = lost_words(before, after, model, data)
    exits = {"speed": speed_curve(model, test, data.base.words)} if len(model.exits) else {}
    return Outcome(
        pipeline.name, data.seed, measured["accuracy"], measured, after and after.loss, size(made, path),
        operations(model, test), depth(model, test), number, changed, lost, made.layers, {**made.curves, **exits},
        seconds, str(path.parent),
    )  # fmt: skip


class Kept(TypedDict):
    """The score above chance as a share of the uncompressed model's, paired by seed."""

    mean: float | None
    """The share; null where the uncompressed model is no better than guessing."""

    low: float | None
    """Where the 95 % interval of the share begins; null with one seed too."""

    high: float | None
    """Where the interval ends."""


class PipelineFacts(TypedDict):
    """A pipeline: what is kept of the answers, and what the model costs."""

    name: str
    """The pipeline as it can be typed."""

    baseline: bool
    """Whether it is a small model that had no teacher."""

    accuracy: MeanAndSd
    """The task's metric on unseen texts, usually the accuracy, 0 to 1."""

    measured: dict[str, MeanAndSd]
    """Every measure of the task, by its name."""

    kept: Kept
    pretraining_loss: MeanAndSd | None
    """The loss on held-out text; null where the model has other words or another structure."""

    parameters: int
    """The number of weights."""

    nonzero: float
    """The number of weights that are not 0, the mean over the seeds."""

    bytes: float
    """The size of the file, the mean over the seeds."""

    memory: int
    """Bytes of all weights while the model runs."""

    operations: float
    """Floating-point operations for each text."""

    layers_used: float
    """The number of layers that a text takes, the mean."""

    latency: dict[str, Latency]
    """By the size of the batch, `1` and `32`; measured with the first seed."""

    flipped: MeanAndSd
    """The number of unseen texts with another answer than the uncompressed model's."""

    layers: tuple[tuple[int, ...], ...]
    """For each layer, the layers of the uncompressed model that it replaces; empty where none is mapped."""

    made_in: float
    """Seconds of compressing, all seeds together."""

    folder: str
    """The folder of the model of the first seed."""


class CompressionFacts(TypedDict):
    """A fine-tuned model that was made smaller in several ways."""

    base: str
    """The pre-trained model."""

    corpus: str
    """The corpus of its pre-training."""

    task: str
    metric: str
    """The metric of the task; its value is `accuracy`."""

    labels: int
    """The number of labelled texts."""

    seeds: int
    """The number of seeds."""

    chance: float
    """What a constant answer reaches; 0 where the metric has no chance level."""

    texts: int
    """How many unseen texts each model was tested on."""

    seconds: float
    """Seconds of the whole comparison."""

    pipelines: list[PipelineFacts]
    """The uncompressed model first."""

    against_uncompressed: list[PairFacts]
    """Every pipeline against the uncompressed model."""

    against_baselines: list[PairFacts]
    """Every compressed model against every small model without a teacher that is at least as large."""

    frontier: dict[Meter, list[str]]
    """By meter, the pipelines that no cheaper one beats by more than the noise."""

    verdict: str
    """Which pipeline leads, and whether the lead is larger than the noise between seeds."""

    notices: list[str]
    """Notices: what was left out or done otherwise than asked for."""


@dataclass(frozen=True)
class Compression:
    """All outcomes by pipeline, in the order in which they were asked for, and the seconds of each with its first seed.

    `chance` is what guessing reaches, `texts` how many each model was tested on, `all_texts` how many different ones
    all seeds have together, and `notices` say what these lack. While it goes on, `latest` is the outcome of the last
    trial, `done` counts the trials, there are no seconds yet, and all pipelines have the same seeds.
    """

    spec: CompressionSpec
    task: Task
    outcomes: Mapping[str, tuple[Outcome, ...]]
    seconds: Mapping[str, Mapping[int, Latency]]
    chance: float
    texts: int
    all_texts: int
    took: float = 0.0
    notices: tuple[str, ...] = ()
    latest: Outcome | None = None
    done: int = 0

    def facts(self, base: str, corpus: str) -> CompressionFacts:
        """The promised JSON keys of `playground compress`; `corpus` is that of the pre-training of the `base`."""
        first, accuracies = self.outcomes[UNCOMPRESSED], self.accuracies
        others = {name: some for name, some in accuracies.items() if name != UNCOMPRESSED}
        leading = others if len(others) > 1 else accuracies
        return {
            "base": base,
            "corpus": corpus,
            "task": self.task.name,
            "metric": self.task.metric,
            "labels": self.spec.train_size,
            "seeds": len(first),
            "chance": self.chance,
            "texts": self.texts,
            "seconds": self.took,
            "pipelines": [self._facts(name) for name in self.outcomes],
            "against_uncompressed": [self._against(name, UNCOMPRESSED) for name in others],
            "against_baselines": self._against_baselines(),
            "frontier": {meter: self.frontier(meter) for meter in METERS if self.seconds or meter != "seconds"},
            "verdict": leader(leading, "pipeline", [self.judged[pair] for pair in top_two(leading)]),
            "notices": list(self.notices),
        }

    @cached_property
    def accuracies(self) -> dict[str, list[float]]:
        """The accuracy of each pipeline with every seed."""
        return {name: [o.accuracy for o in some] for name, some in self.outcomes.items()}

    @cached_property
    def judged(self) -> dict[tuple[str, str], Verdict]:
        """Each pipeline against each other one, all of them one family of tests."""
        chance = self.chance if self.task.answer.has_chance else None
        return judge(self.accuracies, [*permutations(self.accuracies, 2)], chance, self.all_texts)

    def cost(self, name: str, meter: Meter) -> float:
        """What a pipeline costs by a meter, a mean over seeds; seconds are those of the first seed."""
        some = self.outcomes[name]
        if meter == "seconds":
            return self.seconds[name][BATCHES[0]]["median"]
        return fmean(o.size.file if meter == "bytes" else o.operations for o in some)

    def frontier(self, meter: Meter) -> list[str]:
        """The pipelines that no other one beats: none that costs at most as much scores higher by more than the noise.

        Where two score alike within the noise, the cheaper one does not push the other out: there is no winner.
        """
        return [name for name in self.outcomes if not self._beaten(name, meter)]

    def _beaten(self, name: str, meter: Meter) -> bool:
        cheaper = [n for n in self.outcomes if n != name and self.cost(n, meter) <= self.cost(name, meter)]
        return any(gap["larger"] and gap["difference"] > 0 for gap in (self.judged[n, name] for n in cheaper))

    def _facts(self, name: str) -> PipelineFacts:
        some, [first, *_] = self.outcomes[name], self.outcomes[name]
        return {
            "name": name,
            "baseline": read_pipeline(name).baseline,
            "accuracy": spread([o.accuracy for o in some]),
            "measured": {key: spread([o.measured[key] for o in some]) for key in first.measured},
            "kept": self.kept(name),
            "pretraining_loss": spread_if_measured([o.pretraining_loss for o in some]),
            "parameters": first.size.parameters,
            "nonzero": fmean(o.size.nonzero for o in some),
            "bytes": self.cost(name, "bytes"),
            "memory": first.size.memory,
            "operations": self.cost(name, "operations"),
            "layers_used": fmean(o.layers_used for o in some),
            "latency": {str(batch): each for batch, each in self.seconds.get(name, {}).items()},
            "flipped": spread([float(o.flipped) for o in some]),
            "layers": first.layers,
            "made_in": sum(o.seconds for o in some),
            "folder": first.folder,
        }

    def kept(self, name: str) -> Kept:
        """The score above chance as a share of the uncompressed model's, paired by seed, and its 95 % interval.

        The ratio of the means over all seeds (delta method); none where the uncompressed model is no better than
        guessing, for a share of nothing is noise.
        """
        whole, part = ([o.accuracy - self.chance for o in self.outcomes[each]] for each in (UNCOMPRESSED, name))
        if fmean(whole) <= 0 or at_chance(self.accuracies[UNCOMPRESSED], self.chance, self.all_texts):
            return {"mean": None, "low": None, "high": None}
        share = fmean(part) / fmean(whole)
        if len(whole) < 2:
            return {"mean": share, "low": None, "high": None}
        noise = stdev(own - share * all_of_it for own, all_of_it in zip(part, whole, strict=True))
        room = critical(len(whole)) * noise / len(whole) ** 0.5 / fmean(whole)
        return {"mean": share, "low": share - room, "high": share + room}

    def _against(self, name: str, other: str) -> PairFacts:
        return PairFacts(**self.judged[name, other], name=name, against=other)

    def _against_baselines(self) -> list[PairFacts]:
        """Every compressed model of no more parameters than a baseline's against that baseline."""
        weight = {name: some[0].size.parameters for name, some in self.outcomes.items()}
        plain = {name: read_pipeline(name).baseline for name in self.outcomes}
        baselines, others = ([name for name in plain if plain[name] == is_one] for is_one in (True, False))
        return [self._against(n, base) for base in baselines for n in others if weight[n] <= weight[base]]


@computed_as_worker
def compress(
    base: Base, tokenizer: Tokenizer, spec: CompressionSpec, *, task: Task, folder: Path | None = None,
    resume: bool = False,
) -> Generator[Compression]:  # fmt: skip
    """Run every pipeline with every seed; yield what is known after each trial, and at last all of it.

    All start from the base as it is now. Files and the record of finished trials go to the `folder`, by default to one
    that is gone afterwards; with `resume` trials that the record knows are not run again.
    """
    spec.check()
    if task.answer.about == "written":
        raise UserError(
            f"The task {task.name!r} asks for a text to be written, and only models with a head for labels are "
            "compressed here. Choose a task with labels, such as sentiment."
        )
    with TemporaryDirectory() as spare:
        began, home = time.perf_counter(), Path(spare) if folder is None else folder / "models"
        learner = replace_model(base.learner, deepcopy(base.learner.model))
        base = replace(base, learner=learner, tokenizer=tokenizer, task=task, memory={})
        texts, seeds = texts_for(base.learner, task, [], tokenizer), range(spec.seed, spec.seed + spec.seeds)
        train = {seed: texts(spec.train_size, seed, "train") for seed in seeds}
        work = Work(base, task, train, {seed: texts(TEST_TEXTS, seed, "test") for seed in seeds}, spec.steps, home)
        record = PipelineRecord() if folder is None else PipelineRecord.open(folder, resume)
        found: dict[tuple[str, int], Outcome] = {}
        made = _without_outcomes(work, spec)
        for outcome in _trials(work, spec, record):
            found[outcome.pipeline, outcome.seed] = outcome
            yield replace(made, outcomes=_of_same_seeds(found, spec), latest=outcome, done=len(found))
        took, models = time.perf_counter() - began, [(p.name, work.folder_of(p, spec.seed)) for p in spec.chosen]
        classifiers = {name: load(place, task).classifier.eval() for name, place in models}
        seconds, notices = latencies(classifiers, work.test[spec.seed]), tuple(_notices(work, spec))
        outcomes = _of_same_seeds(found, spec)
        yield replace(made, outcomes=outcomes, seconds=seconds, took=took, notices=notices, done=len(found))


def _without_outcomes(work: Work, spec: CompressionSpec) -> Compression:
    """What is known before the first trial: on what the models are tested, and what guessing reaches."""
    guesses = [work.task.answer.guess(work.train[s].labels, test.labels) for s, test in work.test.items()]
    chance = fmean(guesses) if work.task.answer.has_chance else 0.0
    texts, tested = min(len(test.labels) for test in work.test.values()), count_different(work.test.values())
    return Compression(spec, work.task, {}, {}, chance, texts, tested)


def _of_same_seeds(found: Mapping[tuple[str, int], Outcome], spec: CompressionSpec) -> dict[str, tuple[Outcome, ...]]:
    """The outcomes of the pipelines that have the first seed, with the seeds that all of these have."""
    names = [p.name for p in spec.chosen if (p.name, spec.seed) in found]
    seeds = [s for s in range(spec.seed, spec.seed + spec.seeds) if all((name, s) in found for name in names)]
    return {name: tuple(found[name, seed] for seed in seeds) for name in names}


def _notices(work: Work, spec: CompressionSpec) -> Iterator[str]:
    """Sentences on the texts and the base: what was left out or is the same for all seeds."""
    yield from (*work.train[spec.seed].notices, *work.test[spec.seed].notices, *work.base.notices)
    yield from describe_same(work.test.values())
    for pipeline in spec.chosen:
        yield from _describe_unlabelled(work, pipeline, spec.seed)


def _describe_unlabelled(work: Work, pipeline: Pipeline, seed: int) -> Iterator[str]:
    """Sentences on the additional texts of a pipeline: where there are fewer than it asks for, or some are cut."""
    asked = max([getattr(method.step, "unlabelled", 0) for method in pipeline.methods], default=0)
    if asked:
        texts = work.data(seed).unlabelled(asked)
        for line in (*describe_fewer(len(texts.labels), asked, "additional texts"), *texts.notices):
            yield f"{pipeline.name}: {line}"


class PipelineRecord(Record):
    """The outcomes of finished trials whose files are still there and were not overwritten by a later run."""

    file = "outcomes.jsonl"

    @classmethod
    def lines(cls, content: Sequence[bytes]) -> list[Mapping[str, Any]]:
        latest = {line["value"]["folder"]: line for line in super().lines(content)}
        return [line for folder, line in latest.items() if Path(folder).is_dir()]

    @classmethod
    def is_whole(cls, line: Any) -> bool:
        return isinstance(line["key"], str) and isinstance(read_outcome(line["value"]).folder, str)


def read_outcome(values: Mapping[str, Any]) -> Outcome:
    """The outcome that was written."""
    weight = dict(values["size"])
    weight["matrices"] = tuple(WeightMatrix(**{**m, "shape": tuple(m["shape"])}) for m in weight["matrices"])
    changed = tuple(Flip(**flip) for flip in values["flips"])
    lost = dict(values["lost_words"])
    lost["words"] = tuple(LostWord(**word) for word in lost["words"])
    layers = tuple(map(tuple, values["layers"]))
    made = {"size": Size(**weight), "flips": changed, "lost_words": LostWords(**lost), "layers": layers}
    return Outcome(**{**values, **made})


def _trials(work: Work, spec: CompressionSpec, record: PipelineRecord) -> Iterator[Outcome]:
    """The outcomes of all trials, known ones first; the uncompressed models are made before all others."""
    whole = [(Pipeline(), seed) for seed in work.train]
    others = [(pipeline, seed) for seed in work.train for pipeline in spec.chosen[1:]]
    shared = work if spec.workers == 1 else replace(work, base=work.base.travelling(rehearses=True))
    for jobs in (whole, others):
        keys = {job: work.key(*job) for job in jobs}
        yield from (read_outcome(record.known[key]) for key in keys.values() if key in record.known)
        waiting = [job for job in jobs if keys[job] not in record.known]

        def keep(job: Job, outcome: Outcome, keys: Mapping[Job, str] = keys) -> None:
            record.put(keys[job], asdict(outcome))

        yield from Processes(spec.workers).run(waiting, trial, shared, keep)
