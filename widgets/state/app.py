"""The state of a visit: which page is open, the states of the pages, and what is done across them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param

from playground.errors import UserError
from playground.objectives import objectives
from playground.training import Session
from playground.zoo import entries, entry_named
from widgets.state.corpus import CorpusStore
from widgets.state.run_task_matrix import RunTaskMatrixStore
from widgets.state.sentence_editor import SentenceEditorStore
from widgets.state.stage import NO_RUN, StageStore
from widgets.state.stage.samples import offered
from widgets.state.train import OPENED, OWN_FILE, TrainStore
from widgets.state.transfer import TransferStore

SMALL_MODEL = (
    "F forks a training run at the step that is shown; these numbers are of a small model that was trained for the "
    "stage alone. Press Train on the Train page, then F there or with its model on the stage."
)

KEPT, UNTRAINED = "kept", "entry"  # before the name of a base: a kept run, or an entry that is trained first
MOST_BASES = 50  # kept runs that are offered as a base; older ones are opened on the Train page


class Store(param.Parameterized):
    """One visit: which page is open, and the states of the pages; `message` says what was done across them."""

    page = param.Integer(0)
    message = param.String("")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.stage, self.corpus, self.transfer = StageStore(), CorpusStore(), TransferStore(runs)
        self.train, self.sentence, self.matrix = TrainStore(runs), SentenceEditorStore(), RunTaskMatrixStore(runs)
        self.stage.train_session = lambda: self.train.session
        self.stage.trainer, self.stage.forker = self.train_from_stage, self.fork
        self._kept_base: tuple[str, Session | None] = "", None
        self.transfer.param.watch(self._other_base, "base")

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
        self.stage.attach_trained()
        self.stage.look_inside()
        self.page = 0
        self.message = (
            f"{self.train.name_of_run or learner.entry.name} is paused at step {learner.step}; this is its coming "
            "update. On the Train page Resume goes on."
        )

    def train_from_stage(self, name: str, knobs: Mapping[str, Any]) -> None:
        """Train an objective of the Stage page on the Train page, with its sentence as the probe where that fits."""
        stage, train, entry = self.stage, self.train, entry_named(name)
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

    def _train(self, begin: Callable[[], Session | None]) -> None:
        """Go to the Train page, begin there and say what happens; a run that was going on is stopped and kept."""
        before = self.train.session
        going = before is not None and before.state in ("running", "paused")
        self.page = 1  # first the page, which is quick while nothing trains
        if (session := begin()) is None:
            return
        session.start()
        stopped = " The run before it was stopped and is kept." if going else ""
        self.message = f"{session.run.entry.name} trains on {session.run.corpus.name}.{stopped}"

    @property
    def base(self) -> Session | None:
        """The session whose model is fine-tuned; none where the entry that was chosen is not trained yet."""
        kind, _, name = self.transfer.base.partition(":")
        session = self.train.session
        if kind == KEPT and name != self.train.name_of_run:
            return self._base_at_rest(name)
        wrong = kind == UNTRAINED and (session is None or session.run.entry.name != name)
        return None if wrong else session

    def _base_at_rest(self, name: str) -> Session | None:
        """A kept run, read once for every choice; one that cannot be read says why."""
        if self._kept_base[0] != name:
            self._kept_base = name, None
            try:
                self._kept_base = name, self.train.at_rest(name)
                self.transfer.trouble = ""
            except UserError as refusal:
                self.transfer.trouble = str(refusal)
        return self._kept_base[1]

    def _other_base(self, *_event: object) -> None:
        """An entry that is to be trained is the one that the Train page trains; a kept run is read again."""
        kind, _, name = self.transfer.base.partition(":")
        self._kept_base = "", None
        if kind == UNTRAINED:
            self.train.entry = name

    def bases(self) -> dict[str, str]:
        """What can be fine-tuned, by its name on screen: runs that are kept, the newest first, and the zoo."""
        kept = [run for run in reversed(self.train.kept()) if run.out and run.state != "running"][:MOST_BASES]
        runs = {f"{run.shown}, step {run.step:,}": f"{KEPT}:{run.name}" for run in kept}
        zoo = {f"{name}, to be trained": f"{UNTRAINED}:{name}" for name in entries()}
        return {"the run on the Train page": "", **runs, **zoo}

    def train_base(self) -> None:
        """Train a base on texts of the task that is compared, so that it knows their words."""
        text = self.transfer.text_for_base
        own = {"upload": text} if isinstance(text, Path) else {}
        self.train.param.update(corpus=OWN_FILE if own else text, **own)
        self.train_one()

    def train_one(self) -> None:
        """Train what is chosen on the Train page, as the base of what is compared."""
        if (session := self.train.begin()) is not None:
            self.take_run_on_screen()
            self.transfer.param.update(trouble="", unknown_words=False)
            session.start()

    def take_run_on_screen(self) -> None:
        """The run on the Train page is the base from now on, whatever kept run was."""
        if self.transfer.base.startswith(f"{KEPT}:"):
            self.transfer.base = ""

    def fork(self) -> str:
        """The run goes on as a run of its own from the step that is shown, on the Train page; says why it cannot.

        On the Stage page this is the step of the model that was brought there, also if its run has gone on since.
        """
        session, model = self.train.session, self.stage.model
        if self.page == 0 and (session is None or self.stage.borrowed is not session):
            return NO_RUN if model is None else SMALL_MODEL
        copied = model.learner if self.page == 0 and model is not None else None
        learner = copied or (session.learner if session is not None else None)
        if learner is None:
            return "There is no run to fork yet; press Train first."
        over = learner.step >= learner.entry.recipe.steps
        more = {"steps": learner.step + learner.entry.recipe.steps} if over else {}
        if self.train.fork(more, learner=copied) is None:
            return self.train.trouble
        self.page = 1
        name = self.train.name_of_run
        self.message = f"Forked at step {learner.step}: {name} goes on from there; the run it left is kept."
        return ""

    @param.depends("page", watch=True)
    def _enter(self) -> None:
        if self.page == 0:
            self.stage.enter()

    def close(self) -> None:
        """End everything that runs and remove what was uploaded."""
        self.stage.teaching.end()
        self.corpus.end()
        self.train.leave()
        self.transfer.end()
        self.transfer.forget()
        self.sentence.teaching.end()
        self.matrix.trying.forget()
        self.train.uploads.remove()
