"""The state of a visit: which page is open, the states of the pages, and what is done across them."""

from collections.abc import Callable, Mapping
from contextlib import closing
from copy import deepcopy
from enum import IntEnum
from pathlib import Path
from typing import Any

import param

from playground.analysis.subject import Subject
from playground.claims import Claim
from playground.claims.lab import models_folder
from playground.corpora import Corpus
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning.run.base import Base, base_of, copied
from playground.knob import spelt
from playground.objectives import objectives
from playground.objectives.mask_overrides import MaskOverride
from playground.training import Session, Stepped
from playground.training.observe.subjects import of_learner
from playground.training.store import ready_made
from playground.training.store.ready_made import ReadyMade, defaults
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState
from playground.zoo import entries, entry_named, find_entry
from playground.zoo.changes import turned
from widgets.state.claims import ClaimsStore
from widgets.state.classroom import Classrooms
from widgets.state.compress import CompressStore
from widgets.state.corpus import CorpusStore
from widgets.state.hunt import SIDES, HuntStore
from widgets.state.inside import SESSION, InsideStore
from widgets.state.job import Job
from widgets.state.posttraining import SMALL, PostTrainingStore
from widgets.state.quota import ALONE, Quota
from widgets.state.sentence_editor import SentenceEditorStore
from widgets.state.stage import loaded_model
from widgets.state.stage.model import StageModel
from widgets.state.stage.samples import offered
from widgets.state.stage.store import NO_RUN, StageStore
from widgets.state.train import forks, saved_runs
from widgets.state.train.choice import OPENED, OWN_FILE
from widgets.state.train.store import TrainStore
from widgets.state.transfer.store import TransferStore
from widgets.state.zoo import ZooStore

SMALL_MODEL = (
    "F forks a training run at the step that is shown; these numbers are of a small model for the "
    "stage alone. Press Train on the Train page, then F there or with its model on the stage."
)

KEPT, READY, UNTRAINED, HUNTED = "kept", "ready", "entry", "case"
"""What begins the key of a model: a kept run, a ready-made checkpoint, an entry to train first, a run of the hunt."""
SMALL_LM = "a small LM of film reviews, trained first"
MOST_BASES = 50  # kept runs that are offered as a base; older ones are opened on the Train page


class Tab(IntEnum):
    """The pages in the order of their tabs."""

    STAGE = 0
    TRAIN = 1
    TRANSFER = 2
    POST_TRAINING = 3
    CORPUS = 4
    ZOO = 5
    INSIDE = 6
    COMPRESS = 7
    CLAIMS = 8


class Store(param.Parameterized):
    """One visit: which page is open, and the states of the pages; `message` says what was done across them."""

    page = param.Integer(0)
    message = param.String("")
    built = param.Integer(0, doc="Grows when ready-made base models were built.")

    def __init__(
        self, runs: Path | None = None, quota: Quota = ALONE, classes: Classrooms | None = None, **values: Any
    ) -> None:
        super().__init__(**values)
        self.quota = quota
        self.stage = StageStore(bundled=True, view="table")  # until the address asks for one objective
        self.corpus, self.transfer = CorpusStore(), TransferStore(runs)
        self.train, self.sentence = TrainStore(runs), SentenceEditorStore()
        self.zoo, self.compress, self.claims = ZooStore(), CompressStore(), ClaimsStore()
        self.inside = InsideStore(self.open_subject, self.first_subject)
        self.posttraining = PostTrainingStore(self.open_policy)
        self.stage.train_session = lambda: self.train.session
        self.stage.trainer, self.stage.forker = self.train_from_stage, self.fork
        self.compress.show_both = self.show_compressed
        self.claims.open_run = self.open_run_of_claim
        self.hunt = HuntStore()
        self.hunt.open_inside = self.open_suspects
        self._copied: dict[str, str] = {}
        self.building = Job("building of base models")
        self.awaited_base: Session | None = None
        self._kept_base: tuple[str, Session | None] = "", None
        self.transfer.param.watch(self._other_base, "base")
        self.train.classes = classes
        self._share_out()

    def _share_out(self) -> None:
        """Give every part of the visit what it may take."""
        quota = self.quota
        self.train.quota = self.transfer.quota = self.corpus.quota = self.compress.quota = self.claims.quota = quota
        self.posttraining.quota = quota
        self.train.in_line = lambda: quota.in_line(self)
        for job in self.jobs:
            job.in_line = quota.in_line(self)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What trains or measures beside the runs of the Train page."""
        return (
            self.stage.teaching, self.sentence.teaching, self.zoo.measuring, self.train.search,
            self.train.writing.job,
            self.building, self.inside.looking, self.compress.running, self.transfer.running,
            self.posttraining.running, self.claims.running, self.hunt.training,
        )  # fmt: skip

    @property
    def busy(self) -> bool:
        """Whether anything of this visit trains or waits for its turn."""
        session = self.train.session
        running = session is not None and session.state == "running"
        return running or any(job.busy for job in self.jobs)

    @property
    def position(self) -> int:
        """The place in the line of what comes first of this visit; 0 where something trains or nothing waits."""
        session = self.train.session
        lines = [*(job.in_line for job in self.jobs), *([session.in_line] if session else [])]
        positions = [each.position for each in lines]
        return 0 if any(each.trains for each in lines) else min(filter(None, positions), default=0)

    def slow(self) -> None:
        """Pause the run of the Train page and show its next update, stage by stage, on the Stage page."""
        session = self.train.session
        if session is None:
            return
        session.rest()
        if (learner := session.learner) is None:
            return
        if learner.objective.name in objectives():
            self.stage.objective = learner.objective.name
        loaded_model.attach_trained(self.stage)
        loaded_model.look_inside(self.stage)
        self.page = Tab.STAGE
        self.message = (
            f"{self.train.name_of_run or learner.entry.name} is paused at step {learner.step}; this is its next "
            "update. Resume on the Train page continues."
        )

    def train_from_stage(self, name: str, knobs: Mapping[str, Any], rules: tuple[MaskOverride, ...] = ()) -> None:
        """Train an objective of the Stage page on the Train page, with its sentence as the probe where that fits."""
        stage, train, entry = self.stage, self.train, entry_named(name).with_overrides(rules)
        train.brought[name] = knobs
        second = stage.pair if stage.paired else ""
        if stage.text.strip() and stage.text.strip() not in offered("text"):
            train.param.update(sentence=stage.text, pair=second)
        train.stage_texts = (stage.text, second)
        self._train(lambda: train.begin_with(entry))

    def train_on_opened(self) -> None:
        """Train the model of the Train page on the corpus of the Corpus page."""
        self.train.param.update(opened=self.corpus.corpus, corpus=OPENED)
        self._train(self.train.begin)

    def train_entry(self, name: str) -> None:
        """Train an entry of the Zoo page on the Train page."""
        self._train(lambda: self.train.begin_with(find_entry(name)))

    def show_objective(self, name: str) -> None:
        """Put the objective of an entry on the Stage, with the knobs that the entry has turned."""
        entry = find_entry(name)
        self.stage.param.update(view="stage", objective=entry.objective.name)
        self.stage.settings = turned(entry)
        self.page = Tab.STAGE

    def show_corpus(self, name: str) -> None:
        """Open the text on which an entry is trained here on the Corpus page."""
        self.corpus.choose_corpus(find_entry(name).corpus)
        self.page = Tab.CORPUS

    def _train(self, begin: Callable[[], Session | None]) -> None:
        """Go to the Train page, begin there and say what happens; a run that was going on is stopped and kept."""
        before = self.train.session
        going = before is not None and before.state in ("running", "paused")
        self.page = Tab.TRAIN  # first the page, which is quick while nothing trains
        if (session := begin()) is None:
            return
        session.start()
        stopped = " The previous run was stopped and saved." if going else ""
        self.message = f"{session.run.entry.title} trains on {session.run.corpus.name}.{stopped}"

    @property
    def base(self) -> Session | None:
        """The session whose model is fine-tuned; none where the entry that was chosen is not trained yet."""
        kind, _, name = self.transfer.base.partition(":")
        session = self.train.session
        if kind == READY or (kind == KEPT and name != self.train.name_of_run):
            return self._base_at_rest(kind, name)
        wrong = kind == UNTRAINED and (session is None or session.run.entry.title != name)
        return None if wrong else session

    def _base_at_rest(self, kind: str, name: str) -> Session | None:
        """A kept run, read once for every choice; one that cannot be read says why."""
        if self._kept_base[0] != name:
            self._kept_base = name, None
            try:
                self._kept_base = name, self._at_rest(kind, name)
                self.transfer.trouble = ""
            except UserError as refusal:
                self.transfer.trouble = str(refusal)
        return self._kept_base[1]

    def _at_rest(self, kind: str, name: str) -> Session:
        return saved_runs.at_rest(self.train, name, ready_made.kept() if kind == READY else self.train.runs)

    def _other_base(self, *_event: object) -> None:
        """An entry that is to be trained is the one that the Train page trains; a kept run is read again."""
        kind, _, name = self.transfer.base.partition(":")
        self._kept_base = "", None
        if kind == UNTRAINED:
            self.train.param.update(entry=name, mask_overrides=())

    def bases(self) -> dict[str, str]:
        """What can be fine-tuned, by its name on screen: runs that are kept, the newest first, and the zoo."""
        kept = [run for run in reversed(self.train.kept()) if run.out and run.state != "running"][:MOST_BASES]
        runs = {f"{run.shown}, step {run.step:,}": f"{KEPT}:{run.name}" for run in kept}
        zoo = {f"{name}, to be trained": f"{UNTRAINED}:{name}" for name in entries()}
        missing = self.missing
        ready = {f"{made.title}, ready-made": f"{READY}:{made.name}" for made in defaults() if made not in missing}
        return {"the run on the Train page": "", **ready, **runs, **zoo}

    def looked_into(self) -> dict[str, str]:
        """What the Inside page can open, by its name on screen: what is trained already."""
        there = {name: key or SESSION for name, key in self.bases().items()}
        hunted = {f"case {case}, {side}": f"{HUNTED}:{case} {side}" for case in self.hunt.runs for side in SIDES}
        return {name: key for name, key in there.items() if not key.startswith(f"{UNTRAINED}:")} | hunted

    def first_subject(self) -> str:
        """What the Inside page opens by itself: the run on the Train page, else what is there first."""
        if self.train.session is not None:
            return SESSION
        return next((key for key in self.looked_into().values() if key != SESSION), SESSION)

    def open_subject(self, key: str, to_read: bool = True) -> Subject:
        """What the Inside page opens; the run on the Train page pauses where its states are `to_read`."""
        if key.startswith(f"{HUNTED}:"):
            return self.hunt.run_of(key.removeprefix(f"{HUNTED}:")).subject
        session, learner = self._opened(key, to_read)
        return of_learner(learner, session.run.corpus, folder=session.run.out)

    def to_post_train(self) -> dict[str, str]:
        """What the Post-training page can begin with, by its name on screen: a small model, and what is trained."""
        there = {name: key or SESSION for name, key in self.bases().items() if not key.startswith(f"{UNTRAINED}:")}
        return {SMALL_LM: SMALL, **there}

    def open_policy(self, key: str) -> tuple[Base, Corpus]:
        """A copy of the model that the Post-training page begins with, and its corpus; a run that trains pauses."""
        session, learner = self._opened(key, to_read=True)
        return base_of(copied(learner), session.run.corpus), session.run.corpus

    def open_suspects(self, case: int) -> None:
        """Open both runs of a case of the bug hunt side by side on the Inside page."""
        sound, suspect = (f"{HUNTED}:{case} {side}" for side in SIDES)
        self.inside.param.update(subject=sound, others=[suspect], over="models")
        self.page = Tab.INSIDE

    def _opened(self, key: str, to_read: bool) -> tuple[Session, TrainState]:
        kind, _, name = key.partition(":")
        if kind in (KEPT, READY):
            session = self._at_rest(kind, name)
        elif (session := self.train.session) is None or session.learner is None or session.learner.step == 0:
            raise UserError("There is no trained model yet; train one on the Train page, or choose a saved one.")
        elif session.state == "running" and to_read:
            session.rest()
        assert session.learner is not None
        return session, session.learner

    def show_head(self) -> None:
        """Open the head that is enlarged on the Inside page on the Stage page, with the sentence that was measured."""
        inside = self.inside
        session, learner = self._opened(inside.key, to_read=True)
        model = StageModel(deepcopy(learner), session.run.corpus)
        text = inside.settings.sentence.strip() or model.sentence
        loaded_model.show_head(self.stage, model, text, *(n - 1 for n in inside.head))
        self.page = Tab.STAGE

    def show_compressed(self) -> None:
        """Open the pipeline whose details are open on the Stage page, the uncompressed model beside it."""
        loaded_model.show_versions(self.stage, *self.compress.versions())
        self.page = Tab.STAGE

    def open_run_of_claim(self, name: str, claim: Claim | None) -> None:
        """Open a run behind a verdict as a saved one: its curves, or what the `claim` measures on the Inside page."""
        if self._copied.get(name) not in {run.name for run in self.train.runs.all()}:
            self._copied[name] = self.train.runs.adopt(Runs(models_folder()), name)
        own = self._copied[name]
        if claim is None:
            self.train.open(own)
            self.page = Tab.TRAIN
            return
        instrument, settings = spelt(claim.common.instrument)
        self.inside.param.update(subject=f"{KEPT}:{own}", others=[], over="models")
        self.inside.choose(instrument)
        self.inside.turned = self.inside.turned | {self.inside.instrument: settings}
        self.page = Tab.INSIDE
        self.inside.look()

    @property
    def missing(self) -> list[ReadyMade]:
        """The ready-made base models that are not there."""
        return [made for made in defaults() if ready_made.facts(made) is None]

    def build_bases(self) -> None:
        """Train the ready-made base models that are missing, in the background, into the cache of this machine."""
        missing = self.missing
        total, before = sum(made.steps for made in missing), 0

        def build(progress: Progress) -> None:
            nonlocal before
            for made in missing:
                with closing(ready_made.build(made)) as events:
                    for event in events:
                        if isinstance(event, Stepped):
                            progress(before + event.step, total)
                before += made.steps

        self.building.begin(build)

    def train_base(self) -> None:
        """Train a base on texts of the task that is compared, so that it knows their words, and then compare."""
        text = self.transfer.task_choice.text_for_base
        own = {"upload": text, "encoding": self.transfer.encoding} if isinstance(text, Path) else {}
        self.train.param.update(corpus=OWN_FILE if own else text, **own)
        self.train_one()
        self.awaited_base = self.train.session if not self.train.trouble else None

    def compare_when_trained(self) -> None:
        """Begin the comparison that waits for its base, once that is trained; a base that was stopped ends it."""
        session = self.awaited_base
        if session is None or (session is self.train.session and session.state in ("ready", "running", "paused")):
            return
        self.awaited_base = None
        if session.error:
            self.transfer.trouble = session.error
        elif session is self.train.session and session.reason != "asked":
            self.transfer.begin(self.base)

    def train_one(self) -> None:
        """Train what is chosen on the Train page, as the base of what is compared."""
        if (session := self.train.begin()) is not None:
            if self.transfer.base.startswith((f"{KEPT}:", f"{READY}:")):
                self.transfer.base = ""  # the run on the Train page, whatever other run was
            self.transfer.param.update(trouble="", unknown_words=False)
            session.start()

    def fork(self) -> str:
        """The run goes on as a run of its own from the step that is shown, on the Train page; says why it cannot.

        On the Stage page this is the step of the model that was brought there, also if its run has gone on since.
        """
        session, model = self.train.session, self.stage.model
        if self.page == Tab.STAGE and (session is None or self.stage.borrowed is not session):
            return NO_RUN if model is None else SMALL_MODEL
        copied = model.learner if self.page == Tab.STAGE and model is not None else None
        learner = copied or (session.learner if session is not None else None)
        if learner is None:
            return "There is no run to fork yet; press Train first."
        over = learner.step >= learner.entry.recipe.steps
        more = {"steps": learner.step + learner.entry.recipe.steps} if over else {}
        if forks.fork_run(self.train, more, learner=copied) is None:
            return self.train.trouble
        self.page = Tab.TRAIN
        name = self.train.name_of_run
        self.message = f"Forked at step {learner.step}: {name} continues from there; the original run is saved."
        return ""

    @param.depends("page", watch=True)
    def _enter(self) -> None:
        if self.page == Tab.STAGE:
            loaded_model.enter(self.stage)

    def close(self) -> None:
        """End everything that runs and remove what was uploaded."""
        self.transfer.end()
        self.compress.end()
        for job in (*self.jobs, self.inside.opening):
            job.end()
        self.corpus.end()
        self.train.leave()
        self.transfer.uploads.remove()
        self.train.uploads.remove()
