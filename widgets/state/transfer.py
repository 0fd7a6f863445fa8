"""A comparison of strategies on one visit: what is asked for, how far it is, what its lanes look like on the way."""

import io
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import param

from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import Table
from playground.corpora.sources import TABLES
from playground.errors import Refusal
from playground.finetuning import Base, Comparison, Strategy, Task, TrialEvent, find_strategy, find_task
from playground.finetuning.comparing.continual import Advanced, ContinualResult, check, facts
from playground.finetuning.comparing.spec import ComparisonSpec, with_others
from playground.finetuning.data.files import named
from playground.finetuning.data.task import UnknownWords, short
from playground.finetuning.report.page import FILES, TURN_FILES, ContinualReport, Origin, Report
from playground.finetuning.run.base import in_words_of, opened_again, replace_model
from playground.finetuning.run.record import Record
from playground.finetuning.run.trainer import Result, StepEvent
from playground.finetuning.strategy.compatibility import texts_for
from playground.finetuning.strategy.extra_features import OtherVectors
from playground.finetuning.strategy.parse import spell
from playground.tokenizing import Tokenizer
from playground.training import Run, Session, checkpoint
from playground.training.checkpoint import Checkpoint, CorpusInfo
from playground.training.data import BatchSampler
from playground.training.parallel.workers import spare
from playground.training.store.runs import Runs
from playground.training.system import threads
from playground.training.train_state import TrainState
from widgets.state.base_changes import AS_IT_IS, Preparing, changed
from widgets.state.uploads import LARGEST_LABELLED_FILE, Uploads

LOOKS, FEWER_LOOKS = 10, 4
"""How often each lane is looked at on its way, and how often where there are several numbers of labelled texts."""

MOST_STRATEGIES = 12

SHOWN_FIRST = ("random start", "feature-based", "full", "adapters")
"""What a visit begins with: the control, nothing changes, everything changes, a little is added."""

FIRST_GUESS = 3.0
"""Seconds after which the time that is left is guessed."""

OWN_FILE = "my own labelled file"
"""The task that is a file of the visitor's."""


@dataclass(frozen=True)
class Point:
    """A lane at one of its looks; `loss` is the mean since the look before, in nats, `sizes` count weights by group."""

    step: int
    loss: float
    accuracy: float
    forgetting: float
    moved: tuple[float, ...]
    sizes: tuple[int, ...] = ()


@dataclass
class Course:
    """The lanes of one strategy at one number of labelled texts: points by seed, outcomes, the latest step."""

    points: dict[int, list[Point]] = field(default_factory=dict)
    losses: dict[int, list[float]] = field(default_factory=dict)
    outcomes: list[Result] = field(default_factory=list)
    step: int = 0
    running: bool = False

    def hear(self, lane: TrialEvent) -> None:
        """Take over one event of a lane."""
        if isinstance(lane.event, Result):
            self.outcomes.append(lane.event)
            self.step, self.running = lane.event.plan.shape[1], False
            return
        self.step, self.running = lane.event.step, True
        self.losses.setdefault(lane.seed, []).append(lane.event.loss)
        if (look := lane.event.look) is not None:
            loss = fmean(self.losses.pop(lane.seed))
            point = Point(lane.event.step, loss, look.accuracy, look.forgetting, look.moved, look.sizes)
            self.points.setdefault(lane.seed, []).append(point)

    @property
    def moved(self) -> tuple[float, ...]:
        """How far each group has moved in the lane that was looked at last."""
        if self.running or not self.outcomes:
            latest = list(self.points.values())[-1:]
            return latest[0][-1].moved if latest else ()
        return tuple(fmean(some) for some in zip(*(o.moved for o in self.outcomes), strict=True))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many weights each group has, as far as that is known."""
        seen = [self.outcomes[0].sizes] if self.outcomes else [p[-1].sizes for p in list(self.points.values())[-1:]]
        return seen[0] if seen else ()

    def values(self, what: str) -> dict[int, list[float]]:
        """Loss, accuracy or forgetting at every step that was looked at, one value for each seed that is there."""
        found: dict[int, list[float]] = {}
        for point in (p for points in list(self.points.values()) for p in list(points)):
            found.setdefault(point.step, []).append(getattr(point, what))
        return dict(sorted(found.items()))


class TransferStore(param.Parameterized):
    """A comparison of strategies and how far it is; `own` are strategies that a person made on this visit.

    `base` says whose model is fine-tuned: that of the Train page, of a kept run or of an entry that is trained first.
    `then` are tasks that are learnt afterwards, one by one, and `before` is what is done to the base first. `beside`
    names kept runs of the folder `runs` whose vectors are read too, by the strategies that read those of others.
    `notice` says what was made of the choices; `unknown_words` whether the base knew too few words of the task. With
    several `workers` lanes run side by side in processes, and each is seen as a whole when it is done.
    """

    base = param.String("")
    task = param.String("sentiment")
    then = param.List([])
    before = param.String(AS_IT_IS)
    beside = param.List([])
    own_file = param.Parameter(None)
    text_column = param.String("")
    label_column = param.String("")
    packing = param.String("")
    chosen = param.List([])
    own = param.Dict({})
    labels = param.Integer(64)
    counts = param.List([])
    seeds = param.Integer(3, bounds=(1, 8))
    steps = param.Integer(80, bounds=(1, 300), softbounds=(20, 300))
    match = param.String("steps")
    rates = param.String("own")
    layers = param.Integer(2)
    workers = param.Integer(1)
    trouble = param.String("")
    notice = param.String("")
    unknown_words = param.Boolean(False)

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**{"chosen": list(SHOWN_FIRST), **values})
        self.runs = None if runs is None else Runs(runs)
        self.events: list[TrialEvent | Comparison | ContinualResult] = []
        self.heard = self.advanced = self.looked = self.finished = 0
        self.doing = ""
        self.in_turn: tuple[Task, ...] = ()
        self.courses: dict[str, Course] = {}
        self.count = 0
        self.state = "ready"
        self.base_name = ""
        self.lanes = 1
        self.asked = ComparisonSpec()
        self._origin: Origin | None = None
        self._saved, self._saved_others = b"", {}
        self._made: tuple[tuple[Any, ...], Any, Any] | None = None
        self.uploads = Uploads()
        self._opened: tuple[tuple[Any, ...], Task | Refusal] | None = None
        self._record, self._shared = Record(), ()
        self._steps: dict[tuple[Strategy, int, int], list[TrialEvent]] = {}
        self._began = 0.0, 0.0
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
        """Keep an uploaded labelled file; its columns are guessed."""
        try:
            paths = self.uploads.keep([(name, content)], LARGEST_LABELLED_FILE)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        self._opened = None
        self.param.update(own_file=paths[0], text_column="", label_column="", trouble="")

    def forget(self) -> None:
        """Remove what was uploaded."""
        self.uploads.remove()
        self._opened = None

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
        self.unknown_words = False
        try:
            base, tokenizer = base_of(session)
            chosen, tasks = self._asked_for(base)
            others = self._others()
            labels, notice = self._labels_there_are(tasks)
            if self.before == AS_IT_IS:
                self._check(with_others(base, tokenizer, others), tokenizer, chosen, tasks, labels[0])
        except Refusal as refusal:
            self._refuse(refusal)
            return False
        assert session is not None
        self.end()
        self.param.update(trouble="", notice=notice)
        self.doing, self.events, self.state = "", [], "running"
        self.courses, self.count = {}, 0
        self.heard = self.advanced = self.looked = self.finished = 0
        self.in_turn = tuple(tasks) if len(tasks) > 1 else ()
        made = "" if self.before == AS_IT_IS else f", {self.before}"
        learner = base.learner
        self.base_name = f"{learner.entry.name} after {learner.step} steps on {session.run.corpus.name}{made}"
        labels = labels[:1] if self.in_turn else tuple(sorted(set(labels)))
        self.asked = ComparisonSpec(
            "base", tasks[0].name, tuple(map(spell, chosen)), labels, self.seeds, 0, self.steps,
            "steps" if self.in_turn else self.match, self.rates, 1 if self.in_turn else min(self.workers, spare(0)),
            input_format=self.packing or None,
            then=tuple(task.name for task in tasks[1:]), extra_encoders=tuple(others),
        )  # fmt: skip
        self.lanes = len(chosen) * self.seeds * len(labels)
        self._began = 0.0, 0.0
        self._remember(id(session), learner.step, self.before, self.own_file)
        base = replace(base, learner=replace_model(learner, deepcopy(learner.model)), memory={})
        self._halt.clear()
        events = self._events(session, base, tokenizer, chosen, tasks, others)
        self._thread = threads.thread(lambda: self._work(events), self._halt, "compare")
        self._thread.start()
        return True

    def _remember(self, *start: Any) -> None:
        """Finished lanes are not run again, as long as all is the same but strategies, labelled texts and seeds."""
        first = () if self.match == "steps" else self.asked.strategies[:1]  # what the others are matched with
        shared = (*start, replace(self.asked, strategies=first, train_sizes=(), seeds=1, workers=1))
        if shared != self._shared:
            self._record, self._shared, self._steps = Record(), shared, {}

    def _asked_for(self, base: Base) -> tuple[list[Strategy], list[Task]]:
        """The strategies and the tasks, or a refusal of what no comparison can be made of."""
        chosen = [self.strategy(name) for name in self.chosen]
        if not chosen:
            raise Refusal("No strategy is chosen; choose at least one.")
        if len(chosen) > MOST_STRATEGIES:
            raise Refusal(f"{len(chosen)} strategies are chosen; compare at most {MOST_STRATEGIES} at once.")
        for strategy in chosen:  # cells painted for more steps than there are now
            strategy.plan(strategy.rows(base.learner.model.shape.layers), self.steps)
        tasks = [self.known, *map(find_task, self.then)]
        if self.then:
            check(tasks, chosen)
            if self.rates == "tuned":
                raise Refusal("Rates are tuned, but for tasks one after another nothing is searched; choose others.")
        return chosen, tasks

    def _labels_there_are(self, tasks: Sequence[Task]) -> tuple[tuple[int, ...], str]:
        """The numbers of labelled texts, the first one first, no more than a file has, and what was made of them."""
        asked = (self.labels, *self.counts)
        small = min((t for t in tasks if t.examples is not None), key=lambda task: task.examples or 0, default=None)
        if small is None or small.examples is None or max(asked) <= small.examples:
            return asked, ""
        most = small.examples
        labels = (min(self.labels, most), *(count for count in self.counts if count <= most))
        left_out = [count for count in asked if count > most]
        return labels, (
            f"{small.name} has {most:,} texts to learn from and {small.tests:,} to be tested on, so "
            f"{_listed(sorted(set(labels)), 'and')} labelled texts are used, not {_listed(left_out, 'or')}."
        )

    def _refuse(self, refusal: Refusal) -> None:
        self.param.update(trouble=str(refusal), notice="", unknown_words=isinstance(refusal, UnknownWords))

    @property
    def text_for_base(self) -> str | Path:
        """A text whose words are those of the task: the file itself, or a corpus in which its words come; else ""."""
        try:
            task = self.known
        except Refusal:
            return ""
        if self.task == OWN_FILE and self.own_file is not None:
            return self.own_file
        return next(iter(task.corpora), "")

    @property
    def reads_others(self) -> bool:
        """Whether a chosen strategy reads the vectors of other runs."""
        return any(isinstance(given, OtherVectors) for name in self.chosen for given in self.strategy(name).given)

    def _others(self) -> dict[str, Checkpoint]:
        """The runs whose vectors are read beside those of the base, by their folders in the archive of the result."""
        if self.runs is None or not self.reads_others:
            return {}
        return {f"beside/{name}": self.runs.load(name) for name in self.beside}

    def _check(
        self, base: Base, tokenizer: Any, chosen: Sequence[Strategy], tasks: Sequence[Task], labels: int
    ) -> None:
        for task in tasks:
            texts_for(base.learner, task, chosen, tokenizer, self.packing or None)(labels, 0, "train")

    def _events(
        self, session: Session, base: Base, tokenizer: Any, chosen: list[Strategy], tasks: Sequence[Task],
        others: Mapping[str, Checkpoint],
    ) -> Iterator[Any]:  # fmt: skip
        """Change the base, if that is wanted, and run every lane from it."""
        base, tokenizer = yield from self._changed(session, base, tokenizer)
        base = with_others(base, tokenizer, others)
        self._check(base, tokenizer, chosen, tasks, self.asked.train_sizes[-1])
        studied = _studied(session, base, any(strategy.rehearses for strategy in chosen))
        self._origin, self._saved = _origin(session, base), _saved(base.learner, tokenizer, studied)
        self._saved_others = {name: _saved(one.learner, one.tokenizer, one.corpus) for name, one in others.items()}
        if self.in_turn:
            yield from self.asked.run_in_turn(base, tokenizer, tasks, chosen)
        else:
            looks = LOOKS if len(self.asked.train_sizes) == 1 else FEWER_LOOKS
            yield from self.asked.run(base, tokenizer, task=tasks[0], chosen=chosen, looks=looks, record=self._record)

    def _changed(self, session: Session, base: Base, tokenizer: Any) -> Iterator[Any]:
        """The base as it is to be; what was made of a resting model is kept for the next comparison."""
        made_of = (id(session), base.learner.step, self.before)
        if self.before == AS_IT_IS:
            return base, tokenizer
        if self._made is None or self._made[0] != made_of:
            learner, words = yield from changed(base, tokenizer, self.before)
            self._made = made_of, learner.learner, words
        _, learner, words = self._made
        text = partial(in_words_of, words)
        return Base(learner, text(base.held_out), lambda: text(base.rehearse())), words

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
        except Refusal as refusal:
            self._refuse(refusal)
            self.state = "failed"
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            self.trouble, self.state = f"The comparison stopped: {error}", "failed"

    def _hear(self, event: TrialEvent | Comparison | ContinualResult | Advanced | Preparing) -> None:
        self.heard += 1
        self.doing = event.said if isinstance(event, Preparing) else self._said(event)
        self.advanced += isinstance(event, Advanced)
        if isinstance(event, Preparing | Advanced):
            return
        tuned = event.event if isinstance(event, TrialEvent) else None
        self.looked += isinstance(tuned, StepEvent) and tuned.look is not None
        self.finished += not isinstance(tuned, StepEvent)
        if isinstance(event, TrialEvent):
            self._follow(event)
        self.events.append(event)

    def _said(self, event: Any) -> str:
        """Where a lane is on its way through the tasks; other lanes are seen in their curves."""
        if not isinstance(event, Advanced):
            return ""
        task = self.in_turn[event.task].name
        return f"{event.strategy.name}, seed {event.seed}: {task}, step {event.step} of {self.asked.steps}."

    def _follow(self, lane: TrialEvent) -> None:
        """Bring the course of a lane up to date; one that is not run again has the steps of the time when it was."""
        if lane.labels != self.count:
            self.count, self.courses = lane.labels, {}
        course = self.courses.setdefault(lane.strategy.name, Course())
        steps = self._steps.setdefault((lane.strategy, lane.seed, lane.labels), [])
        if isinstance(lane.event, StepEvent):
            if lane.event.step == 1:
                steps.clear()
            steps.append(lane)
            self._began = self._began if self._began[0] else (time.monotonic(), self.done_share)
        elif lane.seed not in course.points:
            for earlier in steps:
                course.hear(earlier)
        course.hear(lane)

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
            if isinstance(event, TrialEvent) and isinstance(event.event, Result):
                found.setdefault(event.strategy.name, {}).setdefault(event.labels, []).append(event.event.accuracy)
        return found

    @property
    def done_share(self) -> float:
        """How much of all the lanes is done, 0 to 1; a lane that runs counts by its steps."""
        if self.in_turn:
            return min(1.0, self.advanced / max(1, self.lanes * len(self.in_turn) * self.asked.steps))
        lanes = [e for e in list(self.events) if isinstance(e, TrialEvent)]
        done = sum(isinstance(lane.event, Result) for lane in lanes)
        last = lanes[-1] if lanes else None
        running = last.event.step / self.steps if last and isinstance(last.event, StepEvent) else 0.0
        return min(1.0, (done + min(1.0, running)) / max(1, self.lanes))

    @property
    def progress(self) -> str:
        """How far it is in words: how many lanes are done, and how long the others will take."""
        if self.in_turn or self.state not in ("running", "stopped"):
            return ""
        done = sum(isinstance(e, TrialEvent) and isinstance(e.event, Result) for e in list(self.events))
        if self.state == "stopped":
            return f"Stopped with {done} of {self.lanes} lanes done; Compare goes on from there."
        (began, before), share = self._began, self.done_share
        spent = time.monotonic() - began
        if not began or spent < FIRST_GUESS or share <= before:
            return f"{done} of {self.lanes} lanes done."
        left = spent * (1 - share) / (share - before)
        return f"{done} of {self.lanes} lanes done; about {max(1, round(left))} s left."

    @property
    def result(self) -> Comparison | None:
        """The finished comparison."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Comparison) else None

    @property
    def passed(self) -> list[ContinualResult]:
        """The lanes that have learnt all tasks in turn."""
        return [event for event in list(self.events) if isinstance(event, ContinualResult)]

    @property
    def found(self) -> dict[str, Any] | None:
        """What came out of the tasks in turn so far."""
        if not self.passed:
            return None
        return {"base": self.base_name, "steps": self.asked.steps} | facts(
            self.in_turn, self.asked.train_sizes[0], self.passed
        )

    # the result as files

    def turns(self, name: str) -> bytes:
        """The result of tasks in turn as one of `TURN_FILES`, or a refusal that says what is lacking."""
        if self.found is None or self.state != "done" or self._origin is None:
            raise Refusal("The tasks have not been learnt in turn yet; press Compare and wait for the end.")
        return TURN_FILES[name](ContinualReport(tuple(self.passed), self.asked, self._origin, self.in_turn))

    @property
    def artefact(self) -> Report | None:
        """The finished comparison with everything that is needed to make it again."""
        return Report(self.result, self.asked, self._origin) if self.result and self._origin else None

    def file(self, name: str) -> bytes:
        """One file of the result, or a refusal that says what is lacking."""
        if self.artefact is None:
            raise Refusal("There is no finished comparison yet; press Compare and wait for the verdict.")
        return FILES[name](self.artefact)

    def bundle(self) -> bytes:
        """All files and the base model in one archive; the notebook and the command in it run as they stand."""
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder, saved in {"base": self._saved, **self._saved_others}.items():
                archive.writestr(f"{folder}/checkpoint.safetensors", saved)
            if self.own_file is not None and self.asked.task.startswith(self.own_file.name):
                archive.writestr(self.own_file.name, self.own_file.read_bytes())
            take, names = (self.turns, TURN_FILES) if self.in_turn else (self.file, FILES)
            for name in names:
                try:
                    archive.writestr(name, take(name))
                except Refusal as refusal:
                    archive.writestr(f"{name}.missing.txt", str(refusal))
        return kept.getvalue()


def _listed(counts: Sequence[int], last: str) -> str:
    *others, final = map(str, counts)
    return f" {last} ".join(filter(None, (", ".join(others), final)))


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


def _studied(session: Session, base: Base, rehearsed: bool) -> CorpusInfo:
    """What the archive must hold of the corpus: its text too, where it is rehearsed and cannot be opened by name."""
    corpus = session.run.corpus
    gone = rehearsed and opened_again(corpus.name, corpus.hash) is None
    text = base.bare(base.rehearse()) if gone else None
    return CorpusInfo(corpus.name, corpus.hash, corpus.unigram_entropy, base.held_out, text)


def _saved(learner: TrainState, tokenizer: Tokenizer, studied: CorpusInfo) -> bytes:
    """A model as a checkpoint."""
    with TemporaryDirectory() as folder:
        path = checkpoint.save(Path(folder) / "checkpoint.safetensors", learner, tokenizer, studied)
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
    words = run.corpus.tokenizer
    return Base(session.learner, feed.evaluation(), lambda: in_words_of(words, feed.windows)), words


def feed_of(run: Run) -> BatchSampler:
    """The batches of a run."""
    recipe, needs = run.entry.recipe, run.entry.objective.needs
    return BatchSampler.of(run.corpus, recipe.seq_len, recipe.batch_size, run.seed, run.device, needs)
