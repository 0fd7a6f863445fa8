"""A comparison of strategies on one visit: what is asked for, how far it is, what its lanes look like on the way."""

import io
import threading
import zipfile
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import param

from playground.corpora.labelled import read_table
from playground.corpora.source import TABLES
from playground.corpora.table import Table
from playground.finetuning import FIRST_CHOICE, Base, Comparison, Lane, Strategy, Task, find_strategy, find_task
from playground.finetuning.artefact import FILES, Artefact, Origin
from playground.finetuning.base import replace_model
from playground.finetuning.files import named
from playground.finetuning.job import Asked
from playground.finetuning.spelling import spell
from playground.finetuning.suits import texts_for
from playground.finetuning.task import short
from playground.finetuning.tune import Outcome, Tuned
from playground.refusal import Refusal
from playground.training import Run, Session, background, checkpoint
from playground.training.checkpoint import Studied
from playground.training.feed import Feed

LOOKS = 10
"""How often each lane is looked at on its way."""

MOST_STRATEGIES = 12

OWN_FILE = "my own labelled file"
"""The task that is a file of the visitor's."""

LARGEST_FILE = 5_000_000
"""Bytes of an uploaded file; larger ones go through the command line."""


@dataclass(frozen=True)
class Point:
    """A lane at one of its looks; `loss` is the mean since the look before, in nats."""

    step: int
    loss: float
    accuracy: float
    forgetting: float
    moved: tuple[float, ...]


@dataclass
class Course:
    """The lanes of one strategy at one number of labelled texts: points by seed, outcomes, the latest step."""

    points: dict[int, list[Point]] = field(default_factory=dict)
    losses: dict[int, list[float]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    step: int = 0
    running: bool = False

    def hear(self, lane: Lane) -> None:
        """Take over one event of a lane."""
        if isinstance(lane.event, Outcome):
            self.outcomes.append(lane.event)
            self.step, self.running = lane.event.plan.shape[1], False
            return
        self.step, self.running = lane.event.step, True
        self.losses.setdefault(lane.seed, []).append(lane.event.loss)
        if (look := lane.event.look) is not None:
            loss = fmean(self.losses.pop(lane.seed))
            point = Point(lane.event.step, loss, look.accuracy, look.forgetting, look.moved)
            self.points.setdefault(lane.seed, []).append(point)

    @property
    def moved(self) -> tuple[float, ...]:
        """How far each group has moved in the lane that was looked at last."""
        if self.running or not self.outcomes:
            latest = list(self.points.values())[-1:]
            return latest[0][-1].moved if latest else ()
        return tuple(fmean(some) for some in zip(*(o.moved for o in self.outcomes), strict=True))

    def values(self, what: str) -> dict[int, list[float]]:
        """Loss, accuracy or forgetting at every step that was looked at, one value for each seed that is there."""
        found: dict[int, list[float]] = {}
        for point in (p for points in list(self.points.values()) for p in list(points)):
            found.setdefault(point.step, []).append(getattr(point, what))
        return dict(sorted(found.items()))


class TransferStore(param.Parameterized):
    """A comparison of strategies and how far it is; `own` are strategies that a person made on this visit."""

    task = param.String("sentiment")
    own_file = param.Parameter(None)
    text_column = param.String("")
    label_column = param.String("")
    packing = param.String("")
    chosen = param.List([])
    own = param.Dict({})
    labels = param.Integer(64)
    counts = param.List([])
    seeds = param.Integer(3)
    steps = param.Integer(80)
    match = param.String("steps")
    rates = param.String("own")
    layers = param.Integer(2)
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"chosen": list(FIRST_CHOICE), **values})
        self.events: list[Lane | Comparison] = []
        self.courses: dict[str, Course] = {}
        self.count = 0
        self.state = "ready"
        self.base_name = ""
        self.lanes = 1
        self.asked = Asked()
        self._origin: Origin | None = None
        self._saved = b""
        self._folder: TemporaryDirectory[str] | None = None
        self._opened: tuple[tuple[Any, ...], Task | Refusal] | None = None
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def strategy(self, name: str) -> Strategy:
        """A strategy of this visit or of the catalogue."""
        return self.own.get(name) or find_strategy(name)

    def keep(self, strategy: Strategy) -> None:
        """Put a strategy that a person made among the others and choose it."""
        self.own = {**self.own, strategy.name: strategy}
        self.chosen = list(dict.fromkeys([*self.chosen, strategy.name]))

    # the task

    def upload(self, name: str, content: bytes) -> None:
        """Put a labelled file on disk, so that it is read as every other file is; its columns are guessed."""
        if len(content) > LARGEST_FILE:
            self.trouble = f"The file has {len(content):,} bytes; at most {LARGEST_FILE:,} are read here."
            return
        self.forget()
        self._folder = TemporaryDirectory(prefix="playground-")
        path = Path(self._folder.name) / (Path(name).name or "texts.csv")
        path.write_bytes(content)
        self.param.update(own_file=path, text_column="", label_column="", trouble="")

    def forget(self) -> None:
        """Remove what was uploaded."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self._opened = None, None

    @property
    def known(self) -> Task:
        """The task that is chosen, or a refusal in a sentence; a file is read once for its columns."""
        if self.task != OWN_FILE:
            return find_task(self.task)
        if self.own_file is None:
            raise Refusal(
                "No labelled file is chosen yet; choose a table (.csv, .tsv, .jsonl) or a treebank (.conllu)."
            )
        wanted = (self.own_file, self.text_column, self.label_column)
        if self._opened is None or self._opened[0] != wanted:
            self._opened = wanted, _read(*wanted)
        if isinstance(self._opened[1], Refusal):
            raise self._opened[1]
        return self._opened[1]

    @property
    def table(self) -> Table | None:
        """The chosen table with its columns as they are guessed; None where a file is no table."""
        if self.task != OWN_FILE or self.own_file is None or self.own_file.suffix.lower() not in TABLES:
            return None
        return read_table(self.own_file)

    @property
    def metric(self) -> str:
        """What the main number of the task is, in a few words."""
        try:
            return short(self.known.metric)
        except Refusal:
            return "accuracy"

    def begin(self, session: Session | None) -> bool:
        """Start comparing from the model of a session; False, with the reason in `trouble`, where that cannot be."""
        try:
            base, tokenizer = base_of(session)
            chosen = [self.strategy(name) for name in self.chosen]
            if not chosen:
                raise Refusal("No strategy is chosen; choose at least one.")
            if len(chosen) > MOST_STRATEGIES:
                raise Refusal(f"{len(chosen)} strategies are chosen; compare at most {MOST_STRATEGIES} at once.")
            for strategy in chosen:  # cells painted for more steps than there are now
                strategy.plan(strategy.rows(base.learner.model.shape.layers), self.steps)
            task, packing = self.known, self.packing or None
            texts_for(base.learner, task, chosen, tokenizer, packing)(self.labels, 0, "train")
        except Refusal as refusal:
            self.trouble = str(refusal)
            return False
        assert session is not None
        self.end()
        self.trouble, self.events, self.state = "", [], "running"
        self.courses, self.count = {}, 0
        self.base_name = f"{base.learner.entry.name} after {base.learner.step} steps on {session.run.corpus.name}"
        self.asked = Asked(
            "base", task.name, tuple(map(spell, chosen)), tuple(sorted({self.labels, *self.counts})), self.seeds, 0,
            self.steps, self.match, self.rates, packing=packing,
        )  # fmt: skip
        self.lanes = len(chosen) * self.seeds * len(self.asked.labels)
        base = replace(base, learner=replace_model(base.learner, deepcopy(base.learner.model)), memory={})
        self._origin, self._saved = _origin(session, base), _saved(session, base)
        self._halt.clear()
        lanes = self.asked.run(base, tokenizer, task=task, chosen=chosen, looks=LOOKS)
        self._thread = background.thread(lambda: self._work(lanes), self._halt, "compare")
        self._thread.start()
        return True

    def end(self) -> None:
        """Stop the comparison that is running, if any."""
        self._halt.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(5.0)

    def _work(self, lanes: Any) -> None:
        try:
            for event in lanes:
                self._hear(event)
                if self._halt.is_set():
                    self.state = "stopped"
                    return
            self.state = "done"
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            self.trouble, self.state = f"The comparison stopped: {error}", "failed"

    def _hear(self, event: Lane | Comparison) -> None:
        if isinstance(event, Lane):
            if event.labels != self.count:
                self.count, self.courses = event.labels, {}
            self.courses.setdefault(event.strategy.name, Course()).hear(event)
        self.events.append(event)

    def values(self, what: str) -> dict[str, list[float]]:
        """Accuracy or forgetting of every finished lane at the number of labelled texts that is being run."""
        found: dict[str, list[float]] = {name: [] for name in self.chosen}
        for name, course in list(self.courses.items()):
            found[name] = [getattr(o, what) for o in list(course.outcomes)]
        return found

    @property
    def curve(self) -> dict[str, dict[int, list[float]]]:
        """Accuracy of every finished lane, by strategy and number of labelled texts."""
        found: dict[str, dict[int, list[float]]] = {}
        for event in list(self.events):
            if isinstance(event, Lane) and isinstance(event.event, Outcome):
                found.setdefault(event.strategy.name, {}).setdefault(event.labels, []).append(event.event.accuracy)
        return found

    @property
    def done_share(self) -> float:
        """How much of all the lanes is done, 0 to 1; a lane that runs counts by its steps."""
        lanes = [e for e in list(self.events) if isinstance(e, Lane)]
        done = sum(isinstance(lane.event, Outcome) for lane in lanes)
        last = lanes[-1] if lanes else None
        running = last.event.step / self.steps if last and isinstance(last.event, Tuned) else 0.0
        return min(1.0, (done + min(1.0, running)) / max(1, self.lanes))

    @property
    def result(self) -> Comparison | None:
        """The finished comparison."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Comparison) else None

    # the result as files

    @property
    def artefact(self) -> Artefact | None:
        """The finished comparison with everything that is needed to make it again."""
        return Artefact(self.result, self.asked, self._origin) if self.result and self._origin else None

    def file(self, name: str) -> bytes:
        """One file of the result, or a refusal that says what is lacking."""
        if self.artefact is None:
            raise Refusal("There is no finished comparison yet; press Compare and wait for the verdict.")
        return FILES[name](self.artefact)

    def bundle(self) -> bytes:
        """All files and the base model in one archive; the notebook and the command in it run as they stand."""
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("base/checkpoint.safetensors", self._saved)
            if self.own_file is not None and self.asked.task.startswith(self.own_file.name):
                archive.writestr(self.own_file.name, self.own_file.read_bytes())
            for name in FILES:
                try:
                    archive.writestr(name, self.file(name))
                except Refusal as refusal:
                    archive.writestr(f"{name}.missing.txt", str(refusal))
        return kept.getvalue()


def _read(path: Path, text: str, label: str) -> Task | Refusal:
    """The task of a file, named as it lies in the archive of the result; or why it sets none."""
    try:
        task = find_task(named(str(path), text or None, label or None))
    except Refusal as refusal:
        return refusal
    return replace(task, name=named(path.name, text or None, label or None))


def _origin(session: Session, base: Base) -> Origin:
    corpus, learner = session.run.corpus, base.learner
    return Origin(learner.entry.name, learner.seed, learner.step, corpus.name, corpus.hash)


def _saved(session: Session, base: Base) -> bytes:
    """The base as a checkpoint."""
    corpus = session.run.corpus
    studied = Studied(corpus.name, corpus.hash, corpus.unigram_entropy, base.held_out)
    with TemporaryDirectory() as folder:
        path = checkpoint.save(Path(folder) / "checkpoint.safetensors", base.learner, corpus.tokenizer, studied)
        return path.read_bytes()


def latest(courses: Mapping[str, Course], names: Iterable[str]) -> dict[str, Course]:
    """The courses of some strategies, empty ones where nothing has run."""
    return {name: courses.get(name) or Course() for name in names}


def base_of(session: Session | None) -> tuple[Base, Any]:
    """The model of a session that rests, with its held-out text; a run that goes on is paused first."""
    if session is None or session.learner is None or session.learner.step == 0:
        raise Refusal("There is no trained model yet; train one on the Train page, or press 'Train one here'.")
    if session.state == "running":
        session.rest()
    run = session.run
    feed = feed_of(run)
    return Base(session.learner, feed.evaluation(), lambda: feed.windows), run.corpus.tokenizer


def feed_of(run: Run) -> Feed:
    """The batches of a run."""
    recipe, needs = run.entry.recipe, run.entry.objective.needs
    return Feed.of(run.corpus, recipe.window, recipe.batch, run.seed, run.device, needs)
