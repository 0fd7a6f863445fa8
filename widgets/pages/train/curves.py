"""What the Train page shows of a run while it trains: never more often than costs the training next to nothing."""

import time
from dataclasses import dataclass
from functools import partial
from operator import contains
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.analysis.predictions import Predictions
from playground.corpora.sources import MIXED_WITH
from playground.training import Session
from playground.training.parallel.seeds import Band
from playground.training.system.throttle import TimeBudget
from widgets.browser.components import OnScreen
from widgets.charts.chart import Cursor
from widgets.charts.columns import AXES, ESTIMATED, band, marks, phases
from widgets.charts.loss import loss_chart
from widgets.charts.reference_run import recorded_of
from widgets.pages.layout import STRETCH, View, beside, button, column, plot, row
from widgets.pages.train.attention_head import AttentionHead
from widgets.pages.train.numbers import numbers
from widgets.pages.train.runs import RunTools
from widgets.state.train import choice, extra_seeds, forks
from widgets.state.train.store import CHOICES, TrainStore
from widgets.static import predictions, seeds
from widgets.theme import changing, html, say, tell

DRAWING = 0.025  # the share of processor time that drawing may take while a model trains

SEEN_EVERY, TOLD_EVERY, LONGEST, WAITING_EVERY = 0.22, 0.3, 1.0, 2.0
"""Seconds from one look at the model to the next, between two updates of the numbers, from one point of the loss to the
next at the longest, and between two pictures of a run that waits in line while others train."""

WAYS = {
    "repeat": ("Repeat the corpus and train", "repeat"),
    "mix": (f"Mix it with the corpus {MIXED_WITH} and train", "shuffle"),
}
"""The buttons of a text that is too short, by what is done with it."""

WORDS, UNDER_A_LINE = (
    {"height": f"clamp({least}px, 100vh - {above}px, 270px)", "overflow": "auto"}
    for least, above in ((130, 592), (84, 638))
)
"""The predictions take what the window, and a line that is said above, have left, and scroll where there are many."""


class RunPicture(View):
    """What moves, on one screen: numbers, loss, one attention head, predictions, and the film that is their clock."""

    def __init__(self, train: TrainStore) -> None:
        self.train = train
        self.drawing = TimeBudget(DRAWING, time.thread_time, time.process_time, longest=LONGEST)
        self.seeing, self.telling, self.waiting = (_Rhythm(s) for s in (SEEN_EVERY, TOLD_EVERY, WAITING_EVERY))
        self.numbers, self.predicted = changing(numbers(None)), changing(predictions.markup(None))
        self.origin = changing("")
        self.view: Predictions | None = None
        self.cursor = Cursor()
        self.loss, self.head, self.troubles = LossCurve(train, self.cursor), AttentionHead(train), Troubles(train)
        self.tools = RunTools(train, self.cursor)
        self.words = OnScreen()
        said = self.troubles.text.param.object.rx()
        words = column(self.words, self.predicted, self.origin, styles=said.rx.where(UNDER_A_LINE, WORDS))
        moving = beside(self.loss.layout, self.head.layout, basis=400)
        super().__init__(column(self.troubles, self.numbers, moving, words, self.head.film, self.tools))

    def poll(self) -> None:
        """Draw what has changed since, if it is time; all of it goes to the browser as one message."""
        session = self.train.session
        trains = session is not None and session.state == "running"
        seen = self.words.seen or self.head.mark.seen
        if session is not None and (seen or session.viewer.view is None or not trains):
            session.viewer.watch()  # it looks at the model only where what it sees is on screen
        if session is not None and session is self.loss.session and session.in_line.position and not self.waiting.due:
            return
        if self.drawing.allows or not trains:
            with self.drawing.spending(), pn.io.hold():
                self._draw(session, at_once=not trains)

    def _draw(self, session: Session | None, at_once: bool) -> None:
        self.troubles.poll()
        if session is not None:
            self.loss.draw(session, at_once)
        if session is not None and (self.seeing.due or at_once):
            self._see(session, at_once)
        if self.telling.due or at_once:
            self._update_numbers(session)

    def _see(self, session: Session, at_once: bool) -> None:
        """What the model made of its sentence when it was last looked at, where it is on screen or still to be seen."""
        if self.head.mark.seen or at_once or session is not self.head.session or self.head.drawn[0] is None:
            self.head.poll()
        view = self.head.seen(session)
        if view is not self.view and (self.words.seen or at_once or self.view is None):
            self.view = view
            tell(self.predicted, predictions.markup(view))

    def _update_numbers(self, session: Session | None) -> None:
        """What need not be renewed at every call: the numbers, how far the axes reach, and what is unfolded."""
        last = session.run.last if session is not None else None
        other_seeds = seeds.describe_seeds(extra_seeds.siblings(self.train), self.loss.bands(session), last)
        earlier = self.train.shows_earlier
        still = f"Nothing new was trained. This is still the earlier run, {self.train.name_of_run}." if earlier else ""
        tell(self.numbers, say(still, "notice") + numbers(session, earlier) + say(other_seeds, "quiet"))
        tell(self.origin, say(origin(session), "quiet"))
        self.loss.limits()
        self.tools.poll()


@dataclass
class _Rhythm:
    """Is due once in so many seconds."""

    seconds: float
    last: float = 0.0

    @property
    def due(self) -> bool:
        now = time.monotonic()
        if now - self.last < self.seconds:
            return False
        self.last = now
        return True


def origin(session: Session | None) -> str:
    """Which text is watched; the history of a head keeps the text with which it began."""
    text = getattr(session.viewer.look, "origin", "") if session is not None else ""
    if session is None or not session.moments.film or session.viewer.look is session.filmed_with:
        return text
    return f"{text} The history of the head keeps the text it started with."


class Troubles(View):
    """What went wrong, in a sentence, with the button that helps: a fork, or the other seeds once more."""

    def __init__(self, train: TrainStore) -> None:
        self.train, self.text = train, html("")
        self.fork = button("Fork", self._fork, "fork_right", margin=(0, 10, 8, 10), visible=False)
        again = {"margin": (0, 10, 8, 10), "visible": False}
        train_again = partial(extra_seeds.train_seeds_again, train)
        self.again = button("Train the other seeds again", train_again, "replay", **again)
        longer = {way: pn.bind(contains, train.param.longer, way) for way in WAYS}
        self.longer = {
            way: button(label, partial(train.lengthen, way), icon, margin=(0, 0, 8, 10), visible=longer[way])
            for way, (label, icon) in WAYS.items()
        }
        self.ways = column(row(*self.longer.values(), margin=0), self.fork, self.again, visible=False)
        super().__init__(column(self.text, self.ways))

    def poll(self) -> None:
        settings = way_out(self.train.session)
        self.text.object, self.fork.visible = _sentences(self.train), bool(settings)
        self.again.visible = extra_seeds.seeds_failed(self.train)
        self.fork.label = f"Fork with {', '.join(f'{name} {value:.2g}' for name, value in settings.items())}"
        self.ways.visible = bool(settings or extra_seeds.seeds_failed(self.train) or self.train.longer)

    def _fork(self) -> None:
        if settings := way_out(self.train.session):
            forks.fork_run(self.train, settings)


def _sentences(train: TrainStore) -> str:
    sentences = say(train.trouble, "trouble") + say(train.notice, "notice")
    if (session := train.session) is not None:
        sentences += say(session.error, "trouble")
        siblings = extra_seeds.siblings(train)
        sentences += say(siblings.error if siblings else "", "trouble")
        if (trouble := session.trouble) is not None:
            sentences += say(trouble.sentence, "notice" if trouble.kind == "memory" else "trouble")
    return sentences


def way_out(session: Session | None) -> dict[str, Any]:
    """The settings with which a run that diverged (NaN or infinity) could go on."""
    trouble = session.trouble if session is not None and session.state == "done" else None
    return dict(trouble.settings) if trouble is not None and trouble.kind == "numbers" else {}


class LossCurve(View):
    """The loss of the run, drawn from the rows that have come since; only where it is on screen."""

    def __init__(self, train: TrainStore, cursor: Cursor) -> None:
        self.train, self.cursor = train, cursor
        self.session: Session | None = None
        self.rows = self.noticed = 0
        self.reach = None
        self.banded: tuple[Any, tuple[Band, ...]] = (None, ())
        self.chart, self.mark, self.estimated = loss_chart(), OnScreen(), html("")
        self.key = html(self.chart.key, styles={"flex": "1 1 200px", "font-size": "12px"}, margin=(0, 10))
        axis = pmui.Select.from_param(
            train.param.axis, options=list(AXES), width=170, size="small", margin=(8, 10, 2, 10)
        )
        top = row(axis, self.key, **STRETCH)
        super().__init__(column(self.mark, top, plot(self.chart, margin=(0, 10)), self.estimated))
        train.param.watch(self._turn, "axis")
        train.param.watch(self._show_recorded, CHOICES)
        train.param.watch(self._point, "moment")
        self._turn()

    def _turn(self, *_: object) -> None:
        axis = self.train.axis
        self.chart.over(axis)
        (self.cursor.link if AXES[axis] == "step" else self.cursor.leave)(self.chart.figure)
        self.estimated.object = say(ESTIMATED.get(axis, ""), "quiet")
        self._show_recorded()
        self._point()
        self.limits()

    def _point(self, *_: object) -> None:
        """A line at the moment of the film that is looked at, over the steps."""
        moment = self.train.moment
        self.chart.moment.update(location=moment or 0, visible=moment is not None and AXES[self.train.axis] == "step")

    def _show_recorded(self, *_: object) -> None:
        """Show the recorded run where the run that is about to be trained is the very same."""
        run = None if self.rows else recorded_of(choice.about_to_train(self.train))
        self.chart.show_recorded(run)
        if run is not None:
            self.reach = None  # for its axes are not those of the session

    def limits(self) -> None:
        """How far the axes reach, and the legend of what is drawn."""
        if (session := self.session) is None:
            return
        run, last = session.run, session.rows[-1] if session.rows else None
        words = getattr(session.viewer.look, "names_words", True)  # whether words are asked for, if that is known
        levels = (
            (session.unigram_entropy, run.entry.bound(run.corpus))
            if words and run.entry.unit().startswith("nats")
            else (None, None)
        )
        axes = (self.chart.reach(last, run.last), *levels)
        reach = (*axes, self.chart.highest(levels[0]), not last)
        if reach != self.reach:
            self.reach = reach
            self.chart.limits(*axes)
            self.key.object = self.chart.key

    def bands(self, session: Session | None) -> tuple[Band, ...]:
        """The band over all seeds, drawn again where one of them was evaluated."""
        siblings = extra_seeds.siblings(self.train)
        if siblings is None or session is None:
            return ()
        state = (siblings, len(siblings.evaluated), len(self.chart.questions[0].held_out.data["step"]))
        if state != self.banded[0]:
            self.banded = state, siblings.bands(session.rows)
            self.chart.band.data, self.reach = band(session.rows, self.banded[1]), None
        return self.banded[1]

    def draw(self, session: Session, at_once: bool = True) -> None:
        """Draw what is new of a session; another session is drawn from its beginning."""
        fresh = session is not self.session
        if fresh:
            self.session, self.rows, self.noticed = session, 0, 0
        rows, noticed = session.rows[self.rows :], len(session.moments.noticed)
        if fresh or (rows and (at_once or self.mark.seen)):
            self.rows += len(rows)
            if fresh:
                entry = session.run.entry
                self.chart.show(rows, {question: entry.unit(question) for question in entry.target_names})
            else:
                self.chart.extend(rows)
        if fresh or rows:
            self._show_recorded()
        begun = session.run.entry.phases_begun(session.rows[-1].step) if session.rows else ()
        if fresh or len(begun) != len(self.chart.phases.data["step"]):
            self.chart.phases.data, self.reach = phases(session.rows, begun), None
        if marked := noticed != self.noticed:
            self.noticed = noticed
            self.chart.marks.data = marks(session.rows, [n.step for n in session.moments.noticed])
        if fresh or marked:
            self.reach = None
            self.limits()
