"""What is chosen for a run, the run that is watched, and what is done with the runs that are kept."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import param

from playground.batch import Tokens
from playground.corpora import Corpus, from_pasted, open_corpus
from playground.corpora.readers.decode import WrongEncoding
from playground.corpora.sources import Lengthening, name_with_tokenizer, own_text, read_name, ways_to_lengthen
from playground.devices import pick
from playground.errors import TooShort, UserError
from playground.knob import turn
from playground.parsing import LARGEST
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from playground.training import Run, Session
from playground.training.data import BatchSampler, longest_window
from playground.training.fork import fork, seed_of, what_changed
from playground.training.lr_finder import LRFinderResult, TriedRate, find_rate
from playground.training.observe import replay as moments
from playground.training.observe.look import ProbeSentence, text_to_watch
from playground.training.observe.replay import Replay
from playground.training.own_text import corpus_of
from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import run_name
from playground.training.parallel.workers import spare
from playground.training.session import CurvePoint, Record
from playground.training.store import ready_made
from playground.training.store.metrics import recorded
from playground.training.store.ready_made import ReadyMade
from playground.training.store.runs import Parent, RunRow, Runs
from playground.training.system.turns import NO_LINE, Turn
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_named
from playground.zoo.preset import FAST, RECIPE_PRESETS, find_preset
from widgets.state.classroom import Classroom, Classrooms
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE, Quota
from widgets.state.train.kept_runs import (
    NOTHING,
    Past,
    extra_seeds,
    live,
    made,
    owner,
    runs_folder,
    with_parents,
)
from widgets.state.train.writing import WritingStore
from widgets.state.uploads import ENCODINGS, OR_CHOOSE, Uploads

FEWEST_IN_ROW = 4  # tokens of the shortest row that a recipe allows
LONGEST_PASTE = 2_000_000  # characters of a pasted corpus, of which a box holds no more


def read_pasted(text: str, **options: Any) -> Corpus:
    """A pasted text as a corpus; one that fills its box may have been longer, which is said."""
    corpus = from_pasted(text[:LONGEST_PASTE], **options)
    if len(text) < LONGEST_PASTE:
        return corpus
    cut = f"Of a pasted text the first {LONGEST_PASTE:,} characters are read; upload a longer one as a file."
    return replace(corpus, warning=f"{corpus.warning} {cut}".strip(), description=f"{corpus.description} {cut}")


OWN_TEXT, OWN_FILE, OPENED = "my own text", "my own file", "the corpus on the Corpus page"

AS_DECLARED = "as published"  # the network that the entry itself declares, with our optimiser

ROW_LENGTHS = {"as the recipe says": 0, **{str(tokens): tokens for tokens in (8, 16, 24, 32, 48, 64, 128, 256)}}
"""Tokens of one row of a batch."""

EVALUATE_EVERY, SIZES_EVERY = 25, 20
"""Steps between evaluations and between measurements of the layers."""

AT_ONCE = ("lr", "muon_lr", "grad_clip", "weight_decay", "warmup_ratio", "min_lr_ratio")
"""Knobs that a running model can take; the others need a fork."""

CHOICES = [
    "entry", "corpus", "corpus_knobs", "seed", "steps", "window", "preset", "settings", "shapes", "mask_overrides",
    "session",
]  # fmt: skip
"""The parameters that decide which run is about to be trained."""

TRIES = 60  # steps of a search for a learning rate


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

    def load_corpus(self) -> Corpus:
        """The corpus that is chosen, or a refusal in a sentence."""
        turned = self.corpus_knobs.get(self.corpus, {})
        if self.corpus == OWN_TEXT:
            return own_text(partial(read_pasted, self.pasted), turned)
        if self.corpus == OWN_FILE:
            if self.upload is None:
                raise UserError("No file is chosen yet; choose a text, a table or a treebank first.")
            turned = turned | ({"encoding": self.encoding} if self.encoding else {})
            try:
                return open_corpus(name_with_tokenizer(str(self.upload), turned))
            except WrongEncoding as wrong:
                self.unreadable = True
                raise UserError(f"{wrong}{OR_CHOOSE * (not wrong.named)}") from wrong
        if self.corpus == OPENED:
            if self.opened is None:
                raise UserError("Nothing is open on the Corpus page yet; open it and choose a corpus there.")
            return self.opened
        return open_corpus(self.corpus_name)

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
            return self._with_extra_seeds(self._watch(self._run()))
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
        run = self._run()
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

    def _with_extra_seeds(self, session: Session) -> Session:
        """The same session; the other seeds, where several are asked for, will train beside it."""
        if self.seeds > 1 and not self.quota.shared:
            run, seeds = session.run, range(self.seed + 1, self.seed + self.seeds)
            kept = self.runs.folder.absolute()
            folders = {seed: kept / self._new_folder(run_name(run, seed)) for seed in seeds}
            busy = sum(some.workers for some in extra_seeds.values() if some.state == "running")
            workers = min(self.workers, spare(1 + busy))
            extra_seeds[session] = ExtraSeeds(run, seeds, workers, self.runs, folders, self._probe(run))
        return session

    @property
    def siblings(self) -> ExtraSeeds | None:
        """The other seeds of the run that is watched."""
        return None if self.session is None else extra_seeds.get(self.session)

    @property
    def seeds_failed(self) -> bool:
        """Whether an error stopped the other seeds of a run that was not stopped itself."""
        others, session = self.siblings, self.session
        return bool(others and others.error) and session.state != "failed" and session.reason != "asked"

    def train_seeds_again(self) -> None:
        """Train the other seeds that an error stopped once more."""
        if self.siblings is not None:
            self.siblings.again()
            self.advance()

    @property
    def declared(self) -> Entry:
        """The chosen entry in the chosen recipe."""
        entry = entry_named(self.entry).with_overrides(self.mask_overrides)
        entry = replace(entry, objective=entry.objective.turn(self.brought.get(self.entry, {})))
        return entry if self.preset == AS_DECLARED else find_preset(self.preset)(entry)

    @property
    def shaped(self) -> Entry:
        """The same with the knobs of its model as they are turned."""
        entry = self.declared
        return replace(entry, model=turn(entry.model, self.shapes.get(self.entry, {})))

    @property
    def chosen(self) -> Entry:
        """The entry with all knobs as they are turned, or a refusal in a sentence."""
        window = {"seq_len": self.window} if self.window else {}
        return _turned(self.shaped, {**self.settings, **window, "steps": self.steps})

    @property
    def about_to_train(self) -> tuple[Entry, str, int] | None:
        """Entry, corpus and seed of the run that begins next: the one on screen until it has begun."""
        if (session := self.session) is not None:
            return (session.run.entry, session.run.corpus.name, session.run.seed)
        with suppress(UserError):
            return (self.chosen, self.corpus_name, self.seed)
        return None

    def _run(self) -> Run:
        corpus = self.load_corpus()
        entry, short = self._with_rows_that_fit(self.chosen, corpus)
        run = Run(entry, corpus, self.seed, pick(self.device))
        self.notice = f"{run.notice} {short}".strip()
        return self._scheduled(run)

    def _scheduled(self, run: Run) -> Run:
        steps = run.entry.recipe.steps
        save = max(EVALUATE_EVERY, steps // self.quota.checkpoints)
        return replace(run, steps=steps, evaluate_every=EVALUATE_EVERY, sizes_every=SIZES_EVERY, save_every=save)

    def _with_rows_that_fit(self, entry: Entry, corpus: Corpus) -> tuple[Entry, str]:
        """The entry with rows as long as a short text allows, and a sentence if they are shorter than asked for."""
        asked = entry.recipe.seq_len
        fits = min(asked, max(FEWEST_IN_ROW, longest_window(corpus, asked, entry.needs)))
        if fits == asked:
            return entry, ""
        parts = (corpus.held_out_from, len(corpus) - corpus.held_out_from)
        short = (
            f"The corpus is short: {parts[0]:,} tokens to train on and {parts[1]:,} held out, so a row has {fits} "
            f"tokens instead of {asked}."
        )
        return _turned(entry, {"seq_len": fits}), short

    def _watch(
        self, run: Run, learner: TrainState | None = None, past: Past = NOTHING, parent: Parent | None = None,
        name: str = "",
    ) -> Session:  # fmt: skip
        """A session of a run, in a folder of its own; an old run goes on with its `learner`, `past` and `name`."""
        recipe = run.entry.recipe
        # what cannot be cut into rows is refused here, and not later in the thread
        needs, continues = run.entry.objective.needs, run.entry.continues
        BatchSampler.of(run.corpus, recipe.seq_len, recipe.batch_size, run.seed, run.device, needs, continues)
        look = self._probe(run)
        if not name:
            self.quota.check(run, len(self.kept()))
        self.leave()
        name = name or self._new_folder(run_name(run, run.seed) if parent is None else f"{parent.run}-at{parent.step}")
        run = replace(run, out=(self.runs.folder / name).absolute())
        record = self._record(name, parent, learner.step if learner else 0, look.sentence)
        session = Session(
            run, look, begin=learner, record=record, rows=past.rows, film=look, moments=past.moments,
            in_line=self.in_line(),
        )  # fmt: skip
        if learner is not None:
            session.view, session.unigram_entropy = look(learner), run.corpus.unigram_entropy
        return self._take(session, name)

    def _take(self, session: Session, name: str) -> Session:
        """Make a session the one that is watched; the visit that watched it before no longer ends it."""
        owner[session] = id(self)
        if session.run.out is not None:
            live[session.run.out] = session
        self.param.update(session=session, moment=None, name_of_run=name, trouble="", refused=False, longer={})
        return session

    def _probe(self, run: Run) -> ProbeSentence:
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
            self.session.look_with(self._probe(self.session.run))

    def _new_folder(self, preferred: str) -> str:
        """A name that no run has, its folder made at once so that no other visit takes it."""
        names = chain([preferred], (f"{preferred}-{number}" for number in count(2)))
        return next(name for name in names if made(self.runs.folder / name))

    def _record(self, name: str, parent: Parent | None, resumed_at: int, text: Tokens) -> Record:
        """What writes a run down: its curve, the moments of its replay, and its place in the list."""
        runs = self.runs

        def record(run: Run, events: Iterable[Any]) -> Generator[Any]:
            measured = recorded(run, runs.opened(events), resumed_at)
            return runs.recorded(name, run, moments.watched(run, measured, text), parent)

        return record

    # the run that is there

    def end(self) -> None:
        """Stop the run that is there, if any, and its other seeds."""
        if self.siblings is not None:
            self.siblings.stop()
        if self.session is not None:
            self.session.stop()

    def leave(self) -> None:
        """Let go of the run: it ends, with its last step saved, unless another visit has taken it over."""
        self.search.end()
        session = self.session
        if session is None or owner.get(session, id(self)) != id(self):
            return
        self.end()
        for folder in (session.run.out, *(self.siblings.folders.values() if self.siblings else ())):
            if folder is not None:
                with suppress(OSError):
                    folder.rmdir()  # only where nothing was kept in it

    def advance(self) -> None:
        """Let the other seeds do what the watched one does."""
        if self.siblings is not None:
            self.siblings.follow(self.session)

    @as_trouble
    def change(self, settings: Mapping[str, Any]) -> str:
        """Turn knobs of the run that trains, from its next step on; says what is different."""
        session = self.session
        if session is None or session.state not in ("running", "paused"):
            raise UserError("There is no run that trains; press Train, or fork a run that is over.")
        if later := [name for name in settings if name not in AT_ONCE]:
            raise UserError(f"{', '.join(later)} cannot be changed during a run; fork it instead.")
        old = session.learner.entry if session.learner else session.run.entry
        session.turn(settings)
        return what_changed(old, _turned(old, settings))

    # forks

    def would_change(self, settings: Mapping[str, Any]) -> str:
        """What a fork with these settings would change, in the words of its label."""
        session = self.session
        if session is None or session.learner is None:
            return "nothing"
        old, given = session.learner.entry, dict(settings)
        try:
            seed = seed_of(given, session.learner)
            return what_changed(old, _turned(old, given), {"seed": (session.learner.seed, seed)})
        except UserError as refusal:
            return str(refusal)

    @as_trouble
    def fork(self, settings: Mapping[str, Any], step: int | None = None, learner: TrainState | None = None) -> Session:
        """Start a run from here, from a checkpoint of the run that is watched, or from a copy of its `learner`."""
        session, name = self.session, self.name_of_run
        if session is None:
            raise UserError("There is no run to fork; press Train, or open a saved one.")
        here = step is None or (session.learner is not None and session.learner.step == step)
        if learner is None and not here:
            learner = self.runs.load(name, step, session.run.device).learner
        if learner is None:
            forked = session.fork(settings)
        else:
            forked = fork(replace(session.run, entry=learner.entry), learner, settings)
        if forked.run.entry.recipe.steps <= forked.step:
            raise UserError(f"The run is at step {forked.step}; give the fork more steps than that.")
        past = Past(tuple(session.rows), tuple(session.moments)).until(forked.step)
        parent = Parent(name, forked.step, forked.changed)
        self.notice = forked.run.notice
        return self._watch(self._scheduled(forked.run), forked.learner, past, parent).start()

    # runs that are kept

    @as_trouble
    def rename(self, name: str, title: str) -> None:
        """Change the title of a kept run in the list."""
        self.runs.rename(name, title)

    @as_trouble
    def delete(self, names: Sequence[str]) -> None:
        """Delete kept runs with their checkpoints; none of them where one must stay."""
        for name in names:
            alive = live.get((self.runs.folder / name).absolute())
            if name == self.name_of_run and self.session is not None:
                raise UserError(f"{name} is on screen; open another run, or press Reset, before it is deleted.")
            if alive is not None and not alive.halted and alive.state in ("ready", "running", "paused"):
                raise UserError(f"{name} is open in another visit and may continue there; it is not deleted.")
            if self.runs.find(name).state == "running":
                raise UserError(f"{name} is being trained; stop it before it is deleted.")
        self.notice = " ".join(filter(None, map(self.runs.delete, names)))

    def replay(self, name: str = "") -> Replay:
        """What was recorded of a kept run, or of the one on screen."""
        name = name or self.name_of_run
        out = self.runs.find(name).out if name else None
        if out is None:
            raise UserError("There is no run on screen with a recording; press Train, or open a saved run.")
        return moments.load(Path(out))

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
        run, learner = self._saved(name)
        return self._watch(self._scheduled(run), learner, self.past(name).until(learner.step), name=name)

    @property
    def ready_made(self) -> ReadyMade | None:
        """The ready-made checkpoint of what is chosen, if it is there."""
        try:
            made = ReadyMade(self.chosen, self.corpus_name, self.seed)
            return made if ready_made.facts(made) is not None else None
        except UserError:
            return None

    @as_trouble
    def open_ready_made(self) -> Session | None:
        """Take the ready-made checkpoint of what is chosen up as a run of one's own, unless it was before."""
        made = self.ready_made
        if made is None:
            raise UserError("Nothing ready-made is there for what is chosen now; press Train.")
        before = {run.name for run in self.runs.all() if run.step == made.steps}
        name = made.name if made.name in before else self.runs.adopt(ready_made.kept(), made.name)
        session = self.open(name)
        self.notice = f"This run is the ready-made checkpoint {made.name}."
        return session

    def at_rest(self, name: str, runs: Runs | None = None) -> Session:
        """A kept run at its last checkpoint, beside the run on screen, which goes on; it is read and never written."""
        run, learner = self._saved(name, runs)
        run = replace(run, out=Path((runs or self.runs).find(name).out or name))
        return Session(run, begin=learner, rows=self.curve(name) if runs is None else runs.points(name))

    def _saved(self, name: str, runs: Runs | None = None) -> tuple[Run, TrainState]:
        saved = (runs or self.runs).load(name, device=pick(self.device))
        learner = saved.learner
        return Run(learner.entry, corpus_of(saved), learner.seed, learner.device), learner

    def curve(self, name: str) -> list[CurvePoint]:
        """The points of a run; before a fork those of the run that it left."""
        return with_parents(self.runs, name, self.runs.points)

    def past(self, name: str) -> Past:
        """What is known of a run; before a fork what is known of the run that it left."""
        return Past(tuple(self.curve(name)), tuple(with_parents(self.runs, name, self.runs.moments)))

    # the search for a rate

    @as_trouble
    def look_for_rate(self) -> None:
        """Try rates from low to high with a copy of the model, so that the run itself is not touched."""
        session = self.session
        if session is not None and session.learner is not None and session.state != "failed":
            forked = session.fork()
            start = forked.run, forked.learner
        else:
            start = self._run(), None
        tried: list[TriedRate] = []
        self.tried = tried

        def search(report: Callable[[int, int], None]) -> LRFinderResult | None:
            for found in find_rate(*start, steps=TRIES):
                if isinstance(found, LRFinderResult):
                    return found
                tried.append(found)
                report(len(tried), TRIES)
            return None

        self.search.begin(search)


def _can_be_watched(session: Session) -> bool:
    """Whether it goes on or has ended by itself; one that was stopped goes on from what it saved."""
    return session.state in ("ready", "running", "paused") or session.reason in ("steps", "seconds", "diverged")


def _turned(entry: Any, settings: Mapping[str, Any]) -> Any:
    return replace(entry, recipe=turn(entry.recipe, settings))
