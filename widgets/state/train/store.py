"""What is chosen for a run, the run that is watched, and what is done with the runs that are kept."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import param

from playground.corpora.sources import Lengthening, read_name, ways_to_lengthen
from playground.devices import pick
from playground.errors import TooShort, UserError
from playground.parsing import LARGEST
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from playground.training import Run, Session
from playground.training.data import BatchSampler
from playground.training.lr_finder import TriedRate
from playground.training.observe.look import ProbeSentence, text_to_watch
from playground.training.parallel.seeds import run_name
from playground.training.store.runs import Parent, RunRow, Runs
from playground.training.system.turns import NO_LINE, Turn
from playground.training.train_state import TrainState
from playground.zoo import Entry
from playground.zoo.preset import FAST, RECIPE_PRESETS
from widgets.state.classroom import Classroom, Classrooms
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE, Quota
from widgets.state.train.choice import (
    AS_DECLARED,
    OWN_FILE,
    OWN_TEXT,
    load_corpus,
    scheduled,
    shaped,
    turned,
    with_rows_that_fit,
)
from widgets.state.train.extra_seeds import siblings, with_extra_seeds
from widgets.state.train.kept_runs import (
    NOTHING,
    Past,
    live,
    owner,
    runs_folder,
)
from widgets.state.train.saved_runs import new_folder, past, recorder, saved
from widgets.state.train.writing import WritingStore
from widgets.state.uploads import ENCODINGS, Uploads

ROW_LENGTHS = {"as the recipe says": 0, **{str(tokens): tokens for tokens in (8, 16, 24, 32, 48, 64, 128, 256)}}
"""Tokens of one row of a batch."""

CHOICES = [
    "entry", "corpus", "corpus_knobs", "seed", "steps", "window", "preset", "settings", "shapes", "mask_overrides",
    "session",
]  # fmt: skip
"""The parameters that decide which run is about to be trained."""


class TrainStore(CorpusChoice):
    """A run, everything that is chosen for it, and the runs that are kept in a folder, by default that of the app.

    `stage_texts` are watched where no sentence is typed and the corpus knows their words; `brought` are the knobs of
    objectives that came from the Stage, by entry, and `proposed_corpus` is the corpus that the app chose for them.
    """

    chosen_by = "corpus"
    own = (OWN_TEXT, OWN_FILE)
    entry = param.String("RoBERTa", label="system")
    corpus = param.String("world", label="corpus")
    pasted = param.String("", label="paste text here")
    upload = param.Parameter(None)
    encoding = param.Selector(default="", objects=ENCODINGS, label="encoding")
    unreadable = param.Boolean(False, doc="Whether the file could not be read in an encoding that was tried.")
    opened = param.Parameter(None)
    sentence = param.String(
        "", label="probe sentence", doc="Empty: a held-out sentence of the corpus. It can be changed during a run."
    )
    pair = param.String("", label="second text to watch")
    window = param.Selector(
        default=0, objects=ROW_LENGTHS, label="tokens per row",
        doc="How many tokens one row of a batch has; a short corpus allows only short rows.",
    )  # fmt: skip
    seed = param.Integer(0, bounds=(0, LARGEST), label="seed")
    seeds = param.Integer(
        1, bounds=(1, 20), label="seeds",
        doc="With more than one, the others train alongside the one on screen, in processes of their own.",
    )  # fmt: skip
    steps = param.Integer(1000, bounds=(1, 20_000), step=100, label="steps")
    workers = param.Integer(100, doc="The most processes for other seeds.")
    device = param.String("auto", label="device")
    axis = param.String("steps", label="x axis", doc="Another axis changes the picture, never the data.")
    preset = param.Selector(default=FAST.name, objects=[AS_DECLARED, *RECIPE_PRESETS], label="recipe")
    settings = param.Dict({}, doc="Knobs of the recipe that differ from the preset.")
    shapes = param.Dict({}, doc="Knobs of the model that are not as its entry and the recipe have them, by entry.")
    ticked = param.List([], doc="The names of the runs that are compared.")
    mask_overrides = param.Parameter((), doc="Rules that were set by hand on the Stage, for this model.")
    session = param.Parameter(None, doc="The run that is watched.")
    moment = param.Integer(None, allow_None=True, doc="The recorded step that is shown; without one, the latest.")
    name_of_run = param.String("", doc="What the list calls the run that is watched.")
    earlier = param.String("", doc="The run that this tab of the browser showed before the visit began.")
    trouble = param.String("", doc="Why something cannot be done.")
    notice = param.String("", doc="What was made of the choices.")
    refused = param.Boolean(False, doc="Whether the run that was asked for last did not begin.")
    longer = param.Dict({}, doc="What makes its text long enough where that was too short, by what is done.")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.runs = Runs(runs or runs_folder())
        self.quota: Quota = ALONE
        self.classes: Classrooms | None = None
        self.in_line: Callable[[], Turn] = lambda: NO_LINE
        self.stage_texts = ("", "")
        self.proposed_corpus = self.corpus_name
        self.search = Job("search for a rate")
        self.writing = WritingStore()
        self.tried: list[TriedRate] = []
        self.brought: dict[str, Mapping[str, Any]] = {}
        self.uploads = Uploads()

    # a new run

    choose_corpus = as_trouble(CorpusChoice.choose_corpus)

    @as_trouble
    def keep(self, name: str, content: bytes) -> None:
        """Keep an uploaded file as the text; it is read when a run begins."""
        self.param.update(upload=self.uploads.keep([(name, content)], self.quota.upload)[0], encoding="")

    @as_trouble
    def begin(self) -> Session:
        """A fresh session for the choices, not yet started; trouble is a sentence and keeps the old session."""
        self.param.update(refused=True, longer={}, notice="")
        try:
            return with_extra_seeds(self, self.watch(self.next_run()))
        except TooShort as short:
            entry = self.chosen
            if self.corpus in self.own:
                self.longer = ways_to_lengthen(short.tokens, entry.recipe.seq_len, entry.needs)
            raise

    @property
    def shows_earlier(self) -> bool:
        """Whether the run on screen is not the one that was asked for last, because that did not begin."""
        return self.session is not None and self.refused and bool(self.trouble)

    def lengthen(self, way: str) -> None:
        """Repeat a text that is too short, or mix it with a generated one, and train on it."""
        known, chosen = self.corpus_knobs, {name: value for name, value in vars(self.longer[way]).items() if value}
        self.corpus_knobs = known | {self.corpus: known.get(self.corpus, {}) | chosen}
        if (session := self.begin()) is not None:
            session.start()

    @param.depends("pasted", "upload", watch=True)
    def _read_once(self) -> None:
        """Another text of one's own is neither repeated nor mixed, and not known to be in another encoding."""
        known = self.corpus_knobs.get(self.corpus, {})
        kept = {name: value for name, value in known.items() if name not in vars(Lengthening())}
        self.param.update(unreadable=False, corpus_knobs=self.corpus_knobs | {self.corpus: kept})

    @as_trouble
    def begin_class(self, name: str, key: str) -> Classroom:
        """Begin a class whose members train what is chosen here, each with another seed."""
        if self.classes is None:
            raise UserError("This app serves one person; start it with --public for a class.")
        self.classes.check(key)
        run = self.next_run()
        self.quota.check(run, kept=0)
        return self.classes.start(name, key, run)

    def begin_with(self, entry: Entry) -> Session | None:
        """A fresh session of an entry on the text that a person chose; where that does not suit, on the entry's own."""
        if self.corpus_name == self.proposed_corpus:
            self._propose(entry.corpus)
        self.entry = entry.name
        self.mask_overrides = entry.mask_overrides
        session = self.begin()
        if session is not None or self.corpus_name == entry.corpus:
            return session
        refused = self.trouble
        self._propose(entry.corpus)
        if (session := self.begin()) is not None:
            self.notice = f"{refused} So {entry.name} is trained on {self.corpus_name}. {self.notice}".rstrip()
        return session

    @param.depends("entry", watch=True)
    def _other_entry(self) -> None:
        """What was set by hand was set for the model before."""
        self.mask_overrides = ()

    def _propose(self, name: str) -> None:
        """Choose the corpus of an entry, with the knobs behind its name."""
        bare, turned = read_name(name)
        self.param.update(corpus=bare, corpus_knobs=self.corpus_knobs | {bare: turned})
        self.proposed_corpus = self.corpus_name

    @property
    def chosen(self) -> Entry:
        """The entry with all knobs as they are turned, or a refusal in a sentence."""
        window = {"seq_len": self.window} if self.window else {}
        return turned(shaped(self), {**self.settings, **window, "steps": self.steps})

    def next_run(self) -> Run:
        corpus = load_corpus(self)
        entry, short = with_rows_that_fit(self.chosen, corpus)
        run = Run(entry, corpus, self.seed, pick(self.device))
        self.notice = f"{run.notice} {short}".strip()
        return scheduled(run, self.quota)

    def watch(
        self, run: Run, learner: TrainState | None = None, past: Past = NOTHING, parent: Parent | None = None,
        name: str = "",
    ) -> Session:  # fmt: skip
        """A session of a run, in a folder of its own; an old run goes on with its `learner`, `past` and `name`."""
        recipe = run.entry.recipe
        # what cannot be cut into rows is refused here, and not later in the thread
        needs, continues = run.entry.objective.needs, run.entry.continues
        BatchSampler.of(run.corpus, recipe.seq_len, recipe.batch_size, run.seed, run.device, needs, continues)
        look = self.probe(run)
        if not name:
            self.quota.check(run, len(self.kept()))
        self.leave()
        name = name or new_folder(
            self.runs, run_name(run, run.seed) if parent is None else f"{parent.run}-at{parent.step}"
        )
        run = replace(run, out=(self.runs.folder / name).absolute())
        record = recorder(self.runs, name, parent, learner.step if learner else 0, look.sentence)
        session = Session(
            run, look, begin=learner, record=record, rows=past.rows, film=look, moments=past.moments,
            in_line=self.in_line(),
        )  # fmt: skip
        if learner is not None:
            session.viewer.view, session.unigram_entropy = look(learner), run.corpus.unigram_entropy
        return self._take(session, name)

    def _take(self, session: Session, name: str) -> Session:
        """Make a session the one that is watched; the visit that watched it before no longer ends it."""
        owner[session] = id(self)
        if session.run.out is not None:
            live[session.run.out] = session
        self.param.update(session=session, moment=None, name_of_run=name, trouble="", refused=False, longer={})
        return session

    def probe(self, run: Run) -> ProbeSentence:
        """The text that is typed, that of the Stage where the corpus knows its words, or a held-out one."""
        sentence, pair = self.sentence, self.pair
        if not sentence.strip():
            words = split_words(clean(" ".join(self.stage_texts)))
            if words and not unknown_words(run.corpus.tokenizer, words):
                sentence, pair = self.stage_texts
        return ProbeSentence(*text_to_watch(run.corpus, run.entry.watched, run.entry.recipe.seq_len, sentence, pair))

    @param.depends("sentence", "pair", watch=True)
    @as_trouble
    def watch_sentence(self) -> None:
        """Look at what is typed now, also in the midst of a run; one that cannot be watched says why."""
        if self.session is not None:
            self.session.look_with(self.probe(self.session.run))

    # the run that is there

    def end(self) -> None:
        """Stop the run that is there, if any, and its other seeds."""
        if (others := siblings(self)) is not None:
            others.stop()
        if self.session is not None:
            self.session.stop()

    def leave(self) -> None:
        """Let go of the run: it ends, with its last step saved, unless another visit has taken it over."""
        self.search.end()
        session = self.session
        if session is None or owner.get(session, id(self)) != id(self):
            return
        self.end()
        for folder in (session.run.out, *(others.folders.values() if (others := siblings(self)) else ())):
            if folder is not None:
                with suppress(OSError):
                    folder.rmdir()  # only where nothing was kept in it

    def kept(self) -> tuple[RunRow, ...]:
        """The runs of the folder, the oldest first."""
        try:
            return self.runs.all()
        except UserError as refusal:
            self.trouble = str(refusal)
            return ()

    @as_trouble
    def open(self, name: str) -> Session:
        """Take a kept run up again: as it goes on, where it is still there, else from its last checkpoint."""
        self.notice = ""
        alive = live.get((self.runs.folder / name).absolute())
        if alive is not None and alive.ending:
            alive.stop()
            if alive.ending:
                raise UserError(f"{name} was stopped and is still saving its last step; try again in a moment.")
        if alive is not None and _can_be_watched(alive):
            if alive is not self.session:
                self.leave()
            return self._take(alive, name)
        if self.runs.find(name).state == "running":
            raise UserError(f"{name} is being trained by another program; wait until it is done.")
        run, learner = saved(self, name, self.runs)
        return self.watch(scheduled(run, self.quota), learner, past(self, name).until(learner.step), name=name)


def _can_be_watched(session: Session) -> bool:
    """Whether it goes on or has ended by itself; one that was stopped goes on from what it saved."""
    return session.state in ("ready", "running", "paused") or session.reason in ("steps", "seconds", "diverged")
