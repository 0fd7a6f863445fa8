"""The state of the Train page: the choices for a run, the run that is watched, and the runs that are kept."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from pathlib import Path
from statistics import fmean, stdev
from tempfile import mkdtemp
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import param

from playground.batch import Tokens
from playground.corpora import Corpus, from_pasted, open_corpus
from playground.devices import pick
from playground.errors import Refusal
from playground.finetuning.comparing.significance import critical
from playground.knob import turn
from playground.parsing import LARGEST
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from playground.training import Run, Session
from playground.training.checkpoint import Checkpoint
from playground.training.data import longest_window
from playground.training.fork import corpus_of, fork, seed_of, what_changed
from playground.training.lr_finder import LRFinderResult, TriedRate, find_rate
from playground.training.observe import replay as moments
from playground.training.observe.look import ProbeSentence, text_to_watch
from playground.training.observe.recording import Moment
from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import lane_name
from playground.training.parallel.workers import spare
from playground.training.session import Record, Row
from playground.training.store.metrics import recorded
from playground.training.store.runs import Parent, RunRow, Runs
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_named
from playground.zoo.preset import find_preset
from widgets.animation.replay import page as replay_page
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.job import Work
from widgets.state.transfer import feed_of
from widgets.state.uploads import Uploads

FEWEST_IN_ROW = 4
"""Tokens of the shortest row that a recipe allows."""

LONGEST_PASTE = 2_000_000
"""Characters of a pasted corpus."""

OWN_TEXT, OWN_FILE, OPENED = "my own text", "my own file", "the text on the Corpus page"

AS_DECLARED = "default"
"""The recipe that the entry itself declares."""

EVALUATE_EVERY, SIZES_EVERY, CHECKPOINTS = 25, 20, 20
"""Steps between evaluations and between measurements of the layers; how many checkpoints a run leaves."""

AT_ONCE = ("lr", "muon_lr", "grad_clip", "weight_decay", "warmup_ratio", "min_lr_ratio")
"""Knobs that a running model can take; the others need a fork."""

TRIES = 60
"""Steps of a search for a learning rate."""

_live: WeakValueDictionary[Path, Session] = WeakValueDictionary()
_owner: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
_siblings: WeakKeyDictionary[Session, ExtraSeeds] = WeakKeyDictionary()
_texts: WeakValueDictionary[str, Corpus] = WeakValueDictionary()


@cache
def runs_folder() -> Path:
    """Where runs are kept: `runs` where the app was started, or a temporary folder where nothing can be written."""
    folder = Path("runs").absolute()
    try:
        folder.mkdir(exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError:
        return Path(mkdtemp(prefix="playground-runs-"))
    return folder


@dataclass(frozen=True)
class Past:
    """What is known of a run so far: the points of its curve and the moments of its story."""

    rows: tuple[Row, ...] = ()
    moments: tuple[Moment, ...] = ()

    def until(self, step: int) -> "Past":
        """The same up to a step."""
        return Past(
            tuple(row for row in self.rows if row.step <= step), tuple(m for m in self.moments if m.step <= step)
        )


NOTHING = Past()
"""What is known of a run that has not begun."""


class TrainStore(CorpusChoice):
    """A run, everything that is chosen for it, and the runs of the folder `runs`; without a folder nothing is kept.

    `settings` are knobs of the recipe that differ from what the `way` or the entry says; `ticked` names the runs that
    are compared; `workers` is the most processes for other seeds; `name` is what the list calls the run that is
    watched. `brought` are the knobs of objectives that came from the Stage, by the name under which they are trained
    here, and `proposed_corpus` is the text that the app chose for them. `earlier` names the run that the same tab of
    the browser showed before the visit began. `window` is the length of a row in tokens, 0 for that of the recipe.
    `sentence` and its second text `pair` are watched where they are typed, else `stage_texts` where the corpus knows
    their words. `notice` says what was made of the choices.
    """

    chosen_by = "corpus"
    entry = param.String("BERT")
    corpus = param.String("world")
    pasted = param.String("")
    upload = param.Parameter(None)
    opened = param.Parameter(None)
    sentence = param.String("")
    pair = param.String("")
    window = param.Integer(0)
    seed = param.Integer(0, bounds=(0, LARGEST))
    seeds = param.Integer(1, bounds=(1, 20))
    steps = param.Integer(1000, bounds=(1, 20_000))
    workers = param.Integer(100)
    device = param.String("auto")
    axis = param.String("steps")
    way = param.String(AS_DECLARED)
    settings = param.Dict({})
    ticked = param.List([])
    session = param.Parameter(None)
    name_of_run = param.String("")
    earlier = param.String("")
    trouble = param.String("")
    notice = param.String("")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.runs = None if runs is None else Runs(runs)
        self.stage_texts = ("", "")
        self.proposed_corpus = self.corpus
        self.search = Work("search for a rate")
        self.tried: list[TriedRate] = []
        self.brought: dict[str, Mapping[str, Any]] = {}
        self.uploads = Uploads()

    # a new run

    def load_corpus(self) -> Corpus:
        """The corpus that is chosen, or a refusal in a sentence."""
        if self.corpus == OWN_TEXT:
            return from_pasted(self.pasted[:LONGEST_PASTE])
        if self.corpus == OWN_FILE:
            if self.upload is None:
                raise Refusal("No file is chosen yet; choose a text, a table or a treebank first.")
            return open_corpus(self.upload)
        if self.corpus == OPENED:
            if self.opened is None:
                raise Refusal("Nothing is open on the Corpus page yet; open it and choose a text there.")
            return self.opened
        return open_corpus(self.corpus_name)

    def take_corpus(self, values: Mapping[str, Any]) -> None:
        """Choose the corpus that a link names; what was wrong with the one before counts no more."""
        self.param.update(**values, trouble="")

    def refuse_corpus(self, refusal: Refusal) -> None:
        """Show why a link's corpus is not trained on."""
        self.trouble = str(refusal)

    def keep(self, name: str, content: bytes) -> None:
        """Keep an uploaded file as the text; it is read when a run begins."""
        if (paths := self._tried(lambda: self.uploads.keep([(name, content)]))) is not None:
            self.upload = paths[0]

    def begin(self) -> Session | None:
        """A fresh session for the choices, not yet started; trouble is a sentence and keeps the old session."""
        return self._tried(lambda: self._with_siblings(self._watch(self._run())))

    def begin_with(self, entry: Entry) -> Session | None:
        """A fresh session of an entry on the text that a person chose; where that does not suit, on the entry's own."""
        chosen = self.corpus != self.proposed_corpus
        if not chosen:
            self.proposed_corpus = entry.corpus
        self.param.update(entry=entry.name, corpus=self.corpus if chosen else entry.corpus)
        session = self.begin()
        if session is not None or self.corpus == entry.corpus:
            return session
        refused, self.corpus, self.proposed_corpus = self.trouble, entry.corpus, entry.corpus
        if (session := self.begin()) is not None:
            self.notice = f"{refused} So {entry.name} is trained on {self.corpus_name}. {self.notice}".rstrip()
        return session

    def _with_siblings(self, session: Session) -> Session:
        """The same session; the other seeds, where several are asked for, will train beside it."""
        if self.seeds > 1:
            run, seeds = session.run, range(self.seed + 1, self.seed + self.seeds)
            kept = self.runs.folder.absolute() if self.runs is not None else None
            folders = {seed: kept / self._new_folder(lane_name(run, seed)) for seed in seeds} if kept else {}
            busy = sum(some.workers for some in _siblings.values() if some.state == "running")
            workers = min(self.workers, spare(1 + busy))
            film = self._look_at(run) if kept else None
            _siblings[session] = ExtraSeeds(run, seeds, workers, self.runs, folders, film)
        return session

    @property
    def siblings(self) -> ExtraSeeds | None:
        """The other seeds of the run that is watched."""
        return None if self.session is None else _siblings.get(self.session)

    def _run(self) -> Run:
        entry = entry_named(self.entry)
        entry = replace(entry, objective=entry.objective.turn(self.brought.get(self.entry, {})))
        entry = entry if self.way == AS_DECLARED else find_preset(self.way)(entry)
        window = {"seq_len": self.window} if self.window else {}
        entry = replace(entry, recipe=turn(entry.recipe, {**self.settings, **window, "steps": self.steps}))
        corpus = self.load_corpus()
        return self._rhythm(Run(self._with_rows_that_fit(entry, corpus), corpus, self.seed, pick(self.device)))

    def _with_rows_that_fit(self, entry: Entry, corpus: Corpus) -> Entry:
        """The entry with rows as long as a short text allows, and a notice where they are shorter than asked for."""
        asked = entry.recipe.seq_len
        fits = max(FEWEST_IN_ROW, longest_window(corpus, asked, entry.objective.needs))
        if fits >= asked:
            self.notice = ""
            return entry
        parts = (corpus.held_out_from, len(corpus) - corpus.held_out_from)
        self.notice = (
            f"{corpus.name} is short: {parts[0]:,} tokens to train on and {parts[1]:,} held out, so a row has {fits} "
            f"tokens instead of {asked}. A longer text allows longer rows."
        )
        return replace(entry, recipe=turn(entry.recipe, {"seq_len": fits}))

    def _rhythm(self, run: Run) -> Run:
        """How often the run is evaluated, measured and saved."""
        steps = run.entry.recipe.steps
        return replace(
            run, steps=steps, evaluate_every=EVALUATE_EVERY, sizes_every=SIZES_EVERY,
            save_every=max(EVALUATE_EVERY, steps // CHECKPOINTS),
        )  # fmt: skip

    def _watch(
        self, run: Run, learner: TrainState | None = None, past: Past = NOTHING, parent: Parent | None = None,
        name: str = "",
    ) -> Session:  # fmt: skip
        """A session of a run, in a folder of its own; an old run goes on with its `learner`, `past` and `name`."""
        feed_of(run)
        look = self._look_at(run)
        self.leave()
        wanted = lane_name(run, run.seed) if parent is None else f"{parent.run}-at{parent.step}"
        name = name or self._new_folder(wanted)
        if self.runs is not None:
            run = replace(run, out=(self.runs.folder / name).absolute())

        record = self._record(name, parent, learner.step if learner else 0, look.sentence)
        session = Session(run, look, begin=learner, record=record, rows=past.rows, film=look, moments=past.moments)
        if learner is not None:
            session.view, session.unigram_entropy = look(learner), run.corpus.unigram_entropy
        return self._take(session, name)

    def _take(self, session: Session, name: str) -> Session:
        """Make a session the one that is watched; whoever watched it before no longer ends it."""
        _owner[session], _texts[session.run.corpus.hash] = id(self), session.run.corpus
        if session.run.out is not None:
            _live[session.run.out] = session
        self.param.update(session=session, name_of_run=name, trouble="")
        return session

    def _look_at(self, run: Run) -> ProbeSentence:
        """A look at the text that is typed, at that of the Stage where the corpus knows it, or at a held-out one."""
        sentence, pair = self.sentence, self.pair
        if not sentence.strip() and _known_words(" ".join(self.stage_texts), run.corpus):
            sentence, pair = self.stage_texts
        found = text_to_watch(run.corpus, run.entry.objective, run.entry.recipe.seq_len, sentence, pair)
        return ProbeSentence(found.tokens, found.origin)

    @param.depends("sentence", "pair", watch=True)
    def watch_sentence(self) -> None:
        """Look at what is typed now, also in the midst of a run; one that cannot be watched says why."""
        session = self.session
        if session is not None:
            self._tried(lambda: session.look_with(self._look_at(session.run)))

    def _new_folder(self, wanted: str) -> str:
        """A name that no run has, its folder made at once so that no other visit takes it."""
        if self.runs is None:
            return wanted
        names = chain([wanted], (f"{wanted}-{number}" for number in count(2)))
        return next(name for name in names if _made(self.runs.folder / name))

    def _record(self, name: str, parent: Parent | None, resumed_at: int, text: Tokens) -> Record | None:
        """What writes a run down: its curve, the moments of its replay, and its place in the list."""
        runs = self.runs
        if runs is None:
            return None

        def record(run: Run, events: Iterable[Any]) -> Generator[Any]:
            told = recorded(run, runs.opened(events), resumed_at)
            return runs.recorded(name, run, moments.watched(run, told, text), parent)

        return record

    # the run that is there

    def rest(self) -> TrainState | None:
        """Pause the run; its learner, once it has one."""
        session = self.session
        if session is None:
            return None
        session.rest()
        return session.learner

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
        if session is None or _owner.get(session, id(self)) != id(self):
            return
        self.end()
        for folder in (session.run.out, *(self.siblings.folders.values() if self.siblings else ())):
            _remove_if_empty(folder)

    def advance(self) -> None:
        """Let the other seeds do what the watched one does."""
        if self.siblings is not None:
            self.siblings.follow(self.session)

    def change(self, settings: Mapping[str, Any]) -> str:
        """Turn knobs of the run that trains, from its next step on; says what is different."""
        session = self.session
        if session is None or session.state not in ("running", "paused"):
            self.trouble = "There is no run that trains; press Train, or fork a run that is over."
            return ""
        if later := [name for name in settings if name not in AT_ONCE]:
            self.trouble = f"{', '.join(later)} cannot be changed while a run goes on; fork it instead."
            return ""
        old = session.learner.entry if session.learner else session.run.entry
        said = self._tried(lambda: (session.turn(settings), what_changed(old, _turned(old, settings)))[1])
        return said or ""

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
        except Refusal as refusal:
            return str(refusal)

    def fork(
        self, settings: Mapping[str, Any], step: int | None = None, learner: TrainState | None = None
    ) -> Session | None:
        """A run of its own from here, from a checkpoint of the run that is watched, or from a copy of its `learner`.

        It starts at once.
        """
        made = self._tried(lambda: self._forked(dict(settings), step, learner))
        return made.start() if made is not None else None

    def _forked(self, settings: dict[str, Any], step: int | None, learner: TrainState | None) -> Session:
        session, name = self.session, self.name_of_run
        if session is None:
            raise Refusal("There is no run to fork; press Train, or open one that is kept.")
        if learner is not None:
            made = fork(replace(session.run, entry=learner.entry), learner, settings)
        elif step is None or (session.learner is not None and session.learner.step == step):
            made = session.fork(settings)
        else:
            if self.runs is None:
                raise Refusal(f"Nothing is kept of step {step}, so it cannot be forked from there.")
            learner = self.runs.load(name, step, session.run.device).learner
            made = fork(replace(session.run, entry=learner.entry), learner, settings)
        if made.run.entry.recipe.steps <= made.step:
            raise Refusal(f"The run is at step {made.step}; give the fork more steps than that.")
        past = Past(tuple(session.rows), tuple(session.moments)).until(made.step)
        return self._watch(self._rhythm(made.run), made.learner, past, Parent(name, made.step, made.changed))

    # runs that are kept

    def rename(self, name: str, title: str) -> None:
        """Call a kept run something else in the list."""
        if self.runs is not None:
            self._tried(lambda: self.runs.rename(name, title))

    def delete(self, names: Sequence[str]) -> None:
        """Delete kept runs with their checkpoints; none of them where one must stay."""
        self._tried(lambda: self._deleted(names))

    def _deleted(self, names: Sequence[str]) -> None:
        if self.runs is None:
            return
        for name in names:
            alive = _live.get((self.runs.folder / name).absolute())
            if name == self.name_of_run and self.session is not None:
                raise Refusal(f"{name} is on screen; open another run, or press Reset, before it is deleted.")
            if alive is not None and not alive.halted and alive.state in ("ready", "running", "paused"):
                raise Refusal(f"{name} is open in another visit and may go on there; it is not deleted.")
            if self.runs.find(name).state == "running":
                raise Refusal(f"{name} is being trained; stop it before it is deleted.")
        self.notice = " ".join(filter(None, map(self.runs.delete, names)))

    def replay(self, name: str = "") -> bytes:
        """A kept run, or the one on screen, as a page that plays without a network."""
        folder = self._folder_of(name or self.name_of_run)
        return replay_page(moments.load(folder)).encode()

    def _folder_of(self, name: str) -> Path:
        out = self.runs.find(name).out if self.runs is not None and name else None
        if out is None:
            raise Refusal("There is no run on screen whose moments are kept; press Train, or open a run that is kept.")
        return Path(out)

    def kept(self) -> tuple[RunRow, ...]:
        """The runs of the folder, the oldest first."""
        try:
            return () if self.runs is None else self.runs.all()
        except Refusal as refusal:
            self.trouble = str(refusal)
            return ()

    def open(self, name: str) -> Session | None:
        """Take a kept run up again: as it goes on, where it is still there, else from its last checkpoint."""
        return self._tried(lambda: self._opened(name))

    def _opened(self, name: str) -> Session:
        if self.runs is None:
            raise Refusal("Nothing is kept here, so there is no run to open.")
        self.notice = ""
        folder = (self.runs.folder / name).absolute()
        alive = _live.get(folder)
        if alive is not None and alive.ending:
            alive.stop()
            if alive.ending:
                raise Refusal(f"{name} was stopped and is still saving its last step; try again in a moment.")
        if alive is not None and _can_be_watched(alive):
            if alive is not self.session:
                self.leave()
            return self._take(alive, name)
        kept = self.runs.find(name)
        if kept.state == "running":
            raise Refusal(f"{name} is being trained by another program; wait until it is done.")
        saved = self.runs.load(name, device=pick(self.device))
        run = self._rhythm(Run(saved.learner.entry, _text_of(saved), saved.learner.seed, saved.learner.device))
        return self._watch(run, saved.learner, self.past(name).until(saved.learner.step), name=name)

    def at_rest(self, name: str) -> Session:
        """A kept run at its last checkpoint, beside the run on screen, which goes on; it is read and never written."""
        if self.runs is None:
            raise Refusal("Nothing is kept here, so there is no run to read.")
        saved = self.runs.load(name, device=pick(self.device))
        run = Run(saved.learner.entry, _text_of(saved), saved.learner.seed, saved.learner.device)
        return Session(run, begin=saved.learner, rows=self.curve(name))

    def earlier_run(self) -> RunRow | None:
        """The kept run that this tab of the browser showed before, as long as none is on screen."""
        if self.session is not None:
            return None
        return next((run for run in self.kept() if run.name == self.earlier), None)

    def curve(self, name: str) -> list[Row]:
        """The points of a run; before a fork those of the run that it left."""
        return [] if self.runs is None else self._along(name, self.runs.points)

    def past(self, name: str) -> Past:
        """What is known of a run; before a fork what is known of the run that it left."""
        if self.runs is None:
            return NOTHING
        return Past(tuple(self.curve(name)), tuple(self._along(name, self.runs.moments)))

    def _along(self, name: str, read: Callable[[str], list[Any]]) -> list[Any]:
        """What there is of a run, behind what there was of its parent up to the fork."""
        assert self.runs is not None
        kept, own = self.runs.find(name), read(name)
        if kept.parent is None or kept.forked_at is None:
            return own
        return [one for one in self._along(kept.parent, read) if one.step <= kept.forked_at] + own

    # the search for a rate

    def look_for_rate(self) -> None:
        """Try rates from low to high with a copy of the model, so that the run itself is not touched."""
        source = self._tried(self._searched)
        if source is None:
            return
        self.tried, run_and_learner = [], source

        def work(hear: Callable[[int, int], None]) -> LRFinderResult | None:
            for found in find_rate(*run_and_learner, steps=TRIES):
                if isinstance(found, LRFinderResult):
                    return found
                self.tried.append(found)
                hear(len(self.tried), TRIES)
            return None

        self.search.begin(work)

    def _searched(self) -> tuple[Run, TrainState | None]:
        session = self.session
        if session is not None and session.learner is not None and session.state != "failed":
            made = session.fork()
            return made.run, made.learner
        return self._run(), None

    def _tried(self, act: Callable[[], Any]) -> Any:
        """What an act gives; a refusal becomes the sentence on the page."""
        try:
            made = act()
        except Refusal as refusal:
            self.trouble = str(refusal)
            return None
        if self.trouble:
            self.trouble = ""
        return made


def _can_be_watched(session: Session) -> bool:
    """Whether it goes on or has ended by itself; one that was stopped goes on from what it saved."""
    return session.state in ("ready", "running", "paused") or session.reason in ("steps", "seconds", "diverged")


def _known_words(text: str, corpus: Corpus) -> bool:
    """Whether there are words and the vocabulary of a corpus can write them all."""
    words = split_words(clean(text))
    return bool(words) and not unknown_words(corpus.tokenizer, words)


def _turned(entry: Any, settings: Mapping[str, Any]) -> Any:
    return replace(entry, recipe=turn(entry.recipe, settings))


def _text_of(saved: Checkpoint) -> Corpus:
    """The text of a kept run; one's own is there as long as somebody trains on it."""
    return _texts.get(saved.corpus.hash) or corpus_of(saved)


def _made(folder: Path) -> bool:
    """Make a folder; False where there is one, of whatever run, visit or program."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise Refusal(f"The run cannot be kept in {folder.parent} ({error.strerror or error}).") from error
    return True


def _remove_if_empty(folder: Path | None) -> None:
    if folder is None:
        return
    try:
        folder.rmdir()
    except OSError:
        return


def tree(runs: Sequence[RunRow]) -> list[tuple[int, RunRow]]:
    """The runs with their depth, every fork below the run that it left; the newest root first."""
    names = {run.name for run in runs}

    def below(run: RunRow, depth: int) -> Iterator[tuple[int, RunRow]]:
        yield depth, run
        for other in runs:
            if other.parent == run.name:
                yield from below(other, depth + 1)

    roots = [run for run in runs if run.parent is None or run.parent not in names]
    return [item for root in reversed(roots) for item in below(root, 0)]


def groups(runs: Sequence[RunRow]) -> dict[str, list[RunRow]]:
    """Runs that differ by nothing but their seed stand together, under the name of the first."""
    found: list[list[RunRow]] = []
    for run in runs:
        fits = (some for some in found if _alike(some[0], run) and run.seed not in {r.seed for r in some})
        if (there := next(fits, None)) is not None:
            there.append(run)
        else:
            found.append([run])
    called = [_called(some) for some in found]
    names = (
        name if called.count(name) == 1 else f"{name} ({some[0].name})"
        for name, some in zip(called, found, strict=True)
    )
    return dict(zip(names, found, strict=True))


def _alike(one: RunRow, other: RunRow) -> bool:
    return all(getattr(one, f) == getattr(other, f) for f in ("entry", "corpus", "settings", "parent", "forked_at"))


def _called(some: Sequence[RunRow]) -> str:
    seeds = len({run.seed for run in some})
    return some[0].shown if seeds == 1 else f"{some[0].shown} and {seeds - 1} more seed{'s' * (seeds > 2)}"


def held_out_curves(store: TrainStore, some: Sequence[RunRow]) -> dict[int, list[float]]:
    """The held-out losses of some runs at every step at which all of them were evaluated."""
    found: dict[int, list[float]] = {}
    for run in some:
        for row in store.curve(run.name):
            if row.held_out is not None:
                found.setdefault(row.step, []).append(row.held_out)
    most = max(map(len, found.values()), default=0)
    return {step: values for step, values in sorted(found.items()) if len(values) == most}


def noise(grouped: Mapping[str, Sequence[RunRow]]) -> str:
    """Whether the best group's lead on the next is larger than the noise between seeds; it takes two common seeds."""
    if len(grouped) < 2:
        return ""
    last = {name: {r.seed: r.held_out for r in some if r.held_out is not None} for name, some in grouped.items()}
    ranked = sorted((name for name in last if len(last[name]) > 1), key=lambda name: fmean(last[name].values()))
    if len(ranked) < 2:
        return "Whether a difference is larger than the noise needs at least two seeds on both sides."
    best, second = ranked[:2]
    common = sorted(set(last[best]) & set(last[second]))
    if len(common) < 2:
        return f"{best} and {second} have fewer than two seeds in common, so their noise cannot be told."
    steps = {run.step for name in (best, second) for run in grouped[name] if run.seed in common}
    if len(steps) > 1:
        return f"These runs stand at different steps ({', '.join(map(str, sorted(steps)))}); train them equally far."
    gaps = [last[second][seed] - last[best][seed] for seed in common]
    mean, room = fmean(gaps), critical(len(gaps)) * stdev(gaps) / len(gaps) ** 0.5
    larger = mean > room
    said = "larger than the noise between seeds" if larger else "within the noise, so neither is better"
    return (
        f"{best} ends {mean:.3f} nats below {second} on average over {len(gaps)} seeds (± {room:.3f}): {said} "
        "(paired t-test, 5 %)."
    )
