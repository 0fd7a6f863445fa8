"""A training run as a widget: it goes on in a thread while the kernel is free, and can be paused."""

import signal
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from weakref import WeakSet

import torch
import traitlets
from IPython import get_ipython
from torch import Tensor

from playground.analysis import cloze
from playground.analysis.generation import Generation, write_text
from playground.analysis.predictions import Predictions
from playground.corpora import Corpus, open_corpus
from playground.corpora.sources import is_generated
from playground.devices import pick
from playground.errors import UserError
from playground.knob import turn
from playground.objectives import Objective
from playground.tokenizing import read_input
from playground.training import Run, Session, Started, Stepped, Stopped
from playground.training.curve import CurvePoint
from playground.training.events import Event
from playground.training.fork import describe_recipe
from playground.training.observe.look import ProbeSentence, text_to_watch
from playground.training.observe.recording import Moment
from playground.training.observe.replay import RecordedCurve, Replay, ReplayRecorder
from playground.training.observe.replay import load as load_replay
from playground.training.store import ready_made
from playground.training.store.ready_made import ReadyMade
from playground.training.system.throttle import TimeBudget
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_for, entry_to_train
from playground.zoo.preset import find_preset
from widgets.animation.export_html import fragment as fragment_of
from widgets.animation.replay import fragment, packed
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import Drawing, headless, in_block
from widgets.notebook.writing import WrittenTexts
from widgets.static import predictions, svg

EVERY = 0.25
"""Seconds between two reports of a run to the browser."""

SHOWING = 0.03
"""The largest share of the training time in which what is shown is prepared."""


@dataclass(frozen=True)
class Progress:
    """A run at a moment: "running", "paused", "done" or "failed", its steps so far and the points of its curves."""

    state: str
    step: int
    steps: int
    rows: tuple[CurvePoint, ...] = ()

    @property
    def losses(self) -> list[tuple[int, float]]:
        """The training loss of every step so far, per scored position."""
        return [(row.step, row.loss) for row in self.rows if row.loss is not None]

    @property
    def held_out(self) -> list[tuple[int, float]]:
        """The held-out losses so far."""
        return [(row.step, row.held_out) for row in self.rows if row.held_out is not None]

    def __repr__(self) -> str:
        return f"A run: {self.state}, step {self.step} of {self.steps}"


@dataclass
class RunCourse:
    """A run in its thread, with the moments that are replayed; `live` says whether somebody watches."""

    run: Run
    probe: ProbeSentence
    shown: "Trained"
    live: bool
    moments: ReplayRecorder | None = None

    def __post_init__(self) -> None:
        self.session = Session(self.run, self.probe, record=lambda _, events: self.recorded(events))

    def recorded(self, events: Iterable[Event | Moment]) -> Generator[Event | Moment]:
        """The same events; between two steps moments are taken down and the widget hears how far the run is."""
        budget, reported = TimeBudget(SHOWING, time.thread_time, time.thread_time, 1.0), 0.0
        try:
            for event in events:
                self.session.viewer.watch()
                due = self._look_at(event)
                yield event
                if due and self.live and budget.allows:
                    with budget.spending():
                        self.shown.story = packed(self.replay())
                if isinstance(event, Stopped) or time.monotonic() - reported > EVERY:
                    reported = time.monotonic()
                    self.shown.report()
        except Exception as error:
            self.shown.report(str(error))
            raise

    def _look_at(self, event: Event | Moment) -> bool:
        """Record a moment where one is due after an event."""
        if isinstance(event, Started):
            self.moments = ReplayRecorder.of(event.learner, self.run.corpus.name, self.probe.sentence, self.run.last)
            self.moments.look(event.learner)
            return True
        learner, moments = self.session.learner, self.moments
        if not isinstance(event, Stepped) or learner is None or moments is None or not moments.due(learner.step):
            return False
        moments.look(learner)
        return True

    def replay(self) -> Replay:
        """The run so far, to be scrubbed through."""
        assert self.moments is not None, "a run that begins has its first frames"
        at = self.progress()
        return self.moments.replay(RecordedCurve(at.losses, at.held_out, self.moments.levels(self.run)))

    def progress(self) -> Progress:
        session = self.session
        step = 0 if session.learner is None else session.learner.step
        return Progress(session.state, step, self.run.last or 0, tuple(session.rows))

    def learned(self) -> "Learned":
        """What the run has come to; to be called while it rests."""
        learner = self.session.learner
        if learner is None or self.moments is None:
            raise UserError("The run was paused before it began, so there is no model yet; continue with resume().")
        self.moments.look(learner)
        rows = tuple(self.session.rows)
        return Learned(learner, self.run.corpus, rows, self.probe(learner), self.replay(), self.probe.origin)


@dataclass(frozen=True)
class Learned:
    """What a run that rests has come to.

    `watched` says which text is predicted, and why it is not the typed one where it is not; `checkpoint` is the
    ready-made one from which it was read, empty where it was trained here.
    """

    learner: TrainState
    corpus: Corpus
    rows: tuple[CurvePoint, ...]
    glance: Predictions | None
    replay: Replay
    watched: str = ""
    checkpoint: str = ""

    @property
    def chart(self) -> str:
        """The curve and the last predictions as markup without a script."""
        learner, corpus = self.learner, self.corpus
        tested = next((r.held_out for r in reversed(self.rows) if r.held_out is not None), None)
        title = f"{learner.entry.name} on {corpus.name}, seed {learner.seed}: step {learner.step}"
        title += f", held out {tested:.3f} {learner.entry.unit()}" if tested is not None else ""
        title += f"; ready-made checkpoint {self.checkpoint}" if self.checkpoint else ""
        levels, begun = (corpus.unigram_entropy, learner.entry.bound(corpus)), learner.entry.phases_begun(learner.step)
        picture = svg.curve(self.rows, learner.step, *levels, begun, learner.entry.unit())
        return f'<p class="title">{escape(title)}</p>{picture}{predictions.markup(self.glance)}'


def warn(warning: str, note: str = "") -> None:
    """Warn in the cell that called the caller, which is `checked`; a note is only printed there."""
    print(note, end="\n" * bool(note))
    if warning:
        warnings.warn(warning, stacklevel=4)


class Trained(Drawing):
    """A model that is trained in this notebook; `compare` and `stage` take it.

    `run` is the run with its steps and losses so far. What needs the model itself (`held_out`, `fill`, `states`,
    `write`, `learner` ...) waits until the run is done or paused.
    """

    kind = traitlets.Unicode("run").tag(sync=True)
    run = traitlets.Instance(Progress, help="The run with its steps and losses so far.")
    status = traitlets.Dict().tag(sync=True)
    story = traitlets.Dict().tag(sync=True)

    def __init__(self, learned: Learned | None = None) -> None:
        self._learned = learned
        self._course: RunCourse | None = None
        self._lock = threading.RLock()
        super().__init__()
        self.on_msg(self._asked)
        if learned is not None:
            self.run = Progress("done", learned.learner.step, learned.learner.step, learned.rows)
            self.status = {"state": "done", "watched": learned.watched}

    @traitlets.default("story")
    def _default_story(self) -> dict[str, Any]:
        return packed(self._learned.replay) if self._learned is not None else {}

    # the run

    def begin(self, run: Run, probe: ProbeSentence) -> "Trained":
        """Start a run in its thread."""
        self._course = RunCourse(run, probe, self, live=not headless())
        self.report()
        return self.resume()

    def resume(self) -> "Trained":
        """Continue a run that was paused."""
        if self._course is not None and self._course.session.state in ("ready", "paused"):
            self._learned = None
            RUNNING.add(self)
            self._course.session.start()
            self.report()
        return self

    def pause(self) -> "Trained":
        """Pause the run after the step that is being taken; the model can then be used, and `resume` continues."""
        if self._course is not None and self._course.session.state == "running":
            self._course.session.rest()
            self.report()
        return self

    def wait(self) -> "Trained":
        """Wait until the run is done or paused; an interrupt of the kernel pauses it."""
        course = self._course
        if course is None:
            return self
        try:
            while course.session.state == "running":
                time.sleep(0.01)
        except KeyboardInterrupt:
            self.pause()
            if course.live:
                raise
        if course.session.error:
            raise UserError(course.session.error)
        if course.session.state == "done":
            course.session.stop()  # its thread has still to report
        return self

    def report(self, failure: str = "") -> None:
        """Tell the notebook how far the run is; where it rests, show all of it and keep that in the notebook."""
        course = self._course
        assert course is not None, "only a run reports"
        now = course.progress()
        now = replace(now, state="failed") if failure else now
        losses = f", training loss {now.losses[-1][1]:.2f} {course.session.run.entry.unit()}" if now.losses else ""
        said = failure or f"{now.state.capitalize()}: step {now.step} of {now.steps}{losses}"
        more = {"said": said, "watched": course.probe.origin}
        self.status = {"state": now.state, "step": now.step, "steps": now.steps, **more}
        self.run = now
        if course.live and now.state in ("paused", "done") and course.moments is not None:
            self.story = packed(self.learned.replay)
            self.keep()

    def _asked(self, _: Any, message: Mapping[str, Any], __: Any) -> None:
        """A button was pressed; an interrupt that comes at the same moment is heard too."""
        try:
            if message.get("do") in ("pause", "resume"):
                getattr(self, message["do"])()
        except KeyboardInterrupt:
            self.pause()

    # the model

    @property
    def learned(self) -> Learned:
        """What the run has come to, as soon as it rests."""
        if threading.current_thread() is threading.main_thread():
            self.wait()
        with self._lock:
            if self._learned is None and self._course is not None:
                self._learned = self._course.learned()
        assert self._learned is not None, "a model was read or is trained"
        return self._learned

    @property
    def learner(self) -> TrainState:
        """The model with its optimiser."""
        return self.learned.learner

    @property
    def corpus(self) -> Corpus:
        """The corpus that it reads."""
        return self._course.run.corpus if self._course is not None else self.learned.corpus

    @property
    def rows(self) -> tuple[CurvePoint, ...]:
        """The points of the curves."""
        return self.learned.rows

    @property
    def unigram_entropy(self) -> float:
        """The loss in nats of who knows the frequencies of the words and nothing else."""
        return self.corpus.unigram_entropy

    @property
    def held_out(self) -> float:
        """The last held-out loss per scored position."""
        losses = [row.held_out for row in self.rows if row.held_out is not None]
        if not losses:
            raise UserError("The run was paused before its first test, so no held-out loss is known; use resume().")
        return losses[-1]

    @checked
    def fill(self, text: str, count: int = 5) -> list[tuple[str, float]]:
        """The likeliest words for the one `[MASK]` of a text, with their probabilities.

        The model reads as it was trained: GPT sees the words on the left alone, BERT both sides. Words that it does not
        know are named in a warning.
        """
        words = self.corpus.tokenizer.words
        if not 1 <= count <= len(words):
            raise UserError(f"count is {count}; it must lie between 1 and {len(words)} words.")
        warn(cloze.unknown_beside_gap(text, self.corpus.tokenizer))
        tokens, position = cloze.gap_of(text, self.corpus.tokenizer)
        chances = cloze.fill_gaps(self.learner.model, tokens, position)[0].exp().topk(count)
        likeliest = (words[k] for k in chances.indices.tolist())
        return list(zip(likeliest, chances.values.tolist(), strict=True))

    @checked
    def write(self, text: str = "", **how: Any) -> WrittenTexts:
        """What the model writes after a text, or what its decoder writes about it.

        `how` has the names of transformers: do_sample, temperature, top_k, top_p, seed, num_return_sequences,
        num_beams, length_penalty, max_new_tokens; also target_language and control_code. Without any, greedily.
        """
        learner = self.learner
        written = write_text(learner.model, learner.objective, self.corpus.tokenizer, text, turn(Generation(), how))
        warn(written.notice)
        return WrittenTexts(written)

    @checked
    def states(self, text: str) -> Tensor:
        """The last state of every token of a text, `[n, d]`: its contextual embedding, or its word vector.

        A warning names words that the model does not know, and tokens after the 64th, which are left out.
        """
        typed = read_input(text, self.corpus.tokenizer)
        warn(typed.notice)
        with torch.no_grad():
            return self.learner.model.eval().features(typed.tokens.to(self.learner.device))[0].cpu()

    def baked(self, module: bool) -> str:
        """The run to be scrubbed through; where no script may run, its curve and its last predictions."""
        if self._course is not None and self._course.session.state == "running":
            said = in_block(f'<p class="quiet">{escape(str(self.status["said"]))}</p>')
            return fragment_of("markup", said, {}, module, self.reserve)
        made = self.learned
        replay = fragment(made.replay, made.chart, module, self.reserve)
        return in_block(replay + f'<p class="quiet">{escape(made.watched)}</p>')

    def __repr__(self) -> str:
        return f"A model: {self.run.state}, step {self.run.step} of {self.run.steps}"


RUNNING: WeakSet[Trained] = WeakSet()
"""The runs of this kernel that an interrupt pauses."""


def _pause_all() -> None:
    for run in list(RUNNING):
        run.pause()


def _hear_interrupts() -> None:
    """Let an interrupt pause the runs, also while no cell runs: the kernel would ignore it then.

    The loop of the kernel hears it, which wakes up for it even where another thread got the signal; a cell that runs
    is interrupted as before.
    """
    kernel: Any = getattr(get_ipython(), "kernel", None)
    if getattr(kernel, "saved_sigint_handler", None) is not signal.SIG_IGN:  # what the kernel goes back to after a cell
        return
    in_cells = signal.getsignal(signal.SIGINT)
    with suppress(NotImplementedError):  # Windows: only a cell that waits for a run is interrupted
        kernel.io_loop.asyncio_loop.add_signal_handler(signal.SIGINT, _pause_all)
        kernel.saved_sigint_handler = signal.signal(signal.SIGINT, in_cells)


@checked
def train(
    entry: str | Objective = "RoBERTa",
    corpus: str | Corpus = "world",
    *,
    steps: int = 300,
    seed: int = 0,
    sentence: str = "",
    device: str = "auto",
    recipe: str = "",
    **knobs: Any,
) -> Trained:
    """Train an entry of the zoo, or an objective, here and now; the kernel stays free while it learns.

    The recipe "paper" takes the published form of network and optimiser; `knobs` turn those of model, recipe and
    objective, such as layers=4 or mask_ratio=0.6. `sentence` is predicted while it learns. Where `playground zoo
    build` has made the very checkpoint already, it is read, and the chart says so. Tab inside the quotes and
    `playground zoo` list the entries, the objectives and the corpora.

    What comes back is a widget: `run` has the steps and losses so far and may be observed; `pause()`, `resume()` and
    an interrupt of the kernel do what their names say. `held_out`, `fill("the [MASK] .")`, `states("a text")` and
    `write("the film", do_sample=True)` ask the model, and wait until it is trained or paused. Under papermill the
    whole run is awaited.

    >>> model = train("GPT", "reviews", steps=200, layers=4)
    >>> model.observe(lambda change: print(change.new.step), "run")
    >>> model.fill("the film was [MASK] .")
    """
    chosen = _chosen(entry, recipe, {**knobs, "steps": steps})
    if (made := _read(chosen, corpus, seed, sentence, device)) is not None:
        return made
    text = open_corpus(corpus) if isinstance(corpus, str) else corpus
    probe = ProbeSentence(*text_to_watch(text, chosen.watched, chosen.recipe.seq_len, sentence))
    run = Run(chosen, text, seed, pick(device), steps=steps, evaluate_every=max(1, min(50, steps // 8)))
    warn(run.warning, text.note)
    torch.set_num_threads(1)
    _hear_interrupts()
    trained = Trained().begin(run, probe)
    return trained.wait() if headless() else trained


def _chosen(entry: str | Objective, recipe: str, settings: Mapping[str, Any]) -> Entry:
    chosen = entry_to_train(entry) if isinstance(entry, str) else entry_for(entry)
    if recipe:
        print(describe_recipe(chosen, recipe))
        chosen = find_preset(recipe)(chosen)
    return chosen.turned(settings)


def _read(entry: Entry, corpus: str | Corpus, seed: int, sentence: str, device: str) -> Trained | None:
    """The ready-made checkpoint of what is asked for as if it had been trained here, None where it is not there."""
    if not isinstance(corpus, str) or not is_generated(corpus) or sentence or pick(device).type != "cpu":
        return None
    made = ReadyMade(entry, corpus, seed)
    if ready_made.facts(made) is None:
        return None
    text, learner, folder = open_corpus(made.corpus), ready_made.load(made).learner, made.folder()
    rows = tuple(ready_made.kept().points(made.name))
    probe = ProbeSentence(*text_to_watch(text, entry.watched, entry.recipe.seq_len))
    replay = load_replay(folder)
    return Trained(Learned(learner, text, rows, probe(learner), replay, probe.origin, made.name))
