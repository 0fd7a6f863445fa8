"""What the Train page shows of a run while it trains: never more often than costs the training next to nothing."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import Range1d

from playground.analysis.attention_patterns import PatternScore
from playground.analysis.predictions import Predictions, title
from playground.analysis.probes import PROBES
from playground.devices import describe
from playground.training import Session
from playground.training.observe.probes import Noticed
from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import Band
from playground.training.session import Row
from playground.training.system.throttle import Budget
from widgets.browser.visibility import OnScreen
from widgets.charts import probes
from widgets.charts.attention import attention_chart
from widgets.charts.attention_history import film_strip
from widgets.charts.crosshair import Cursor
from widgets.charts.layer_updates import size_strips
from widgets.charts.loss import AXES, ESTIMATED, band, loss_chart, marks
from widgets.pages.layout import beside, bind, heading
from widgets.pages.runs import Tools
from widgets.state.train import TrainStore
from widgets.static import predictions, seeds
from widgets.theme import changing, figures, html, say, tell

DRAWING = 0.025
"""The share of the processor's time that drawing may take while a model trains; what is dear is drawn less often."""

SEEN_EVERY, TOLD_EVERY, LONGEST = 0.22, 0.3, 1.0
"""Seconds from one look at the model to the next, from one telling of the numbers to the next, and from one point of
the loss to the next at the longest."""

WORDS = {
    "ready": "ready",
    "running": "training",
    "paused": "paused",
    "done": "finished",
    "failed": "stopped by an error",
}

PAUSING = "pausing"
"""What is said until the step that is being taken is done."""

ENDS = {"asked": "stopped at step {:,}", "diverged": "diverged (NaN or infinity)"}
"""How a run ended that did not come to its end."""

NO_GAUGE = say("No gauge fits this text: their words are not in its vocabulary.", "quiet")


class Picture:
    """Numbers, loss, gauges, layers, guesses and one attention head of the run that is watched."""

    def __init__(self, store: TrainStore) -> None:
        self.store = store
        self.drawing = Budget(DRAWING, time.thread_time, time.process_time, longest=LONGEST)
        self.seeing, self.telling = _Rhythm(SEEN_EVERY), _Rhythm(TOLD_EVERY)
        self.numbers, self.seeds = changing(_numbers(None)), changing("")
        self.guessed = changing(predictions.markup(None))
        self.watched = changing("")
        self.curves, self.head, self.trouble, self.tools = _Curves(store), _Head(), _Trouble(store), Tools(store)
        self.view: Predictions | None = None
        self.curves.cursor.link(self.tools.compared)
        self.words = OnScreen()
        words = pmui.Column(
            self.words,
            heading("Predictions for the probe sentence"),
            self.watched,
            self.guessed,
            margin=0,
            sizing_mode="stretch_width",
        )
        self.widgets = [
            self.numbers, self.seeds, *self.trouble.widgets, self.curves.loss_column, self.tools.column,
            *self.curves.widgets, beside(words, self.head.column),
        ]  # fmt: skip

    def follow(self, session: Session | None) -> None:
        """Draw what has changed since, if it is time; all of it goes to the browser as one message."""
        trains = session is not None and session.state == "running"
        if session is not None and (self.words.seen or self.head.mark.seen or session.view is None or not trains):
            session.watch()  # it looks at the model only where what it sees is on screen
        if self.drawing.allows or not trains:
            with self.drawing.spending(), pn.io.hold():
                self._draw(session, at_once=not trains)

    def _draw(self, session: Session | None, at_once: bool) -> None:
        self.trouble.follow(session)
        if session is not None:
            self.curves.follow(session, at_once)
        if session is not None and (self.seeing.due or at_once):
            self._see(session, at_once)
        if self.telling.due or at_once:
            self._tell(session)

    def _see(self, session: Session, at_once: bool) -> None:
        """What the model made of its sentence when it was last looked at, where it is on screen or still to be seen."""
        if self.head.mark.seen or at_once or session is not self.head.session or self.head.drawn[0] is None:
            self.head.follow(session)
        if session.view is not self.view and (self.words.seen or at_once or self.view is None):
            self.view = session.view
            tell(self.guessed, predictions.markup(session.view))

    def _tell(self, session: Session | None) -> None:
        """What need not be told at every tick: the numbers, how far the axes reach, and what is unfolded."""
        tell(self.numbers, _numbers(session))
        bands = self.curves.bands(self.store.siblings)
        last = session.run.last if session is not None else None
        tell(self.seeds, say(seeds.told(self.store.siblings, bands, last), "quiet"))
        tell(self.watched, say(_watched(session), "quiet"))
        self.curves.limits()
        self.tools.follow(session)


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


class _Trouble:
    """What went wrong, in a sentence; where a fork would help, the button that forks with what is suggested."""

    def __init__(self, store: TrainStore) -> None:
        self.store, self.said, self.shown = store, html(""), ("", {})
        self.fork = pmui.Button(
            label="Fork", icon="fork_right", size="small", variant="outlined", margin=(0, 10, 8, 10), visible=False
        )
        self.fork.on_click(lambda _: self._fork())
        self.widgets = [self.said, self.fork]

    def follow(self, session: Session | None) -> None:
        """Show the sentence of the page, of the run, and its way out."""
        shown = said, settings = _trouble(self.store, session), _way_out(session)
        if shown == self.shown:
            return
        self.shown, self.said.object, self.fork.visible = shown, said, bool(settings)
        if settings:
            told = ", ".join(f"{name} {value:.2g}" for name, value in settings.items())
            self.fork.label = f"Fork with {told}"

    def _fork(self) -> None:
        if settings := _way_out(self.store.session):
            self.store.fork(settings)


def _way_out(session: Session | None) -> dict[str, Any]:
    """The settings with which a run that diverged (NaN or infinity) could go on."""
    trouble = session.trouble if session is not None and session.state == "done" else None
    return dict(trouble.settings) if trouble is not None and trouble.kind == "numbers" else {}


class _Curves:
    """Loss and gauges, drawn from the rows that have come since."""

    def __init__(self, store: TrainStore) -> None:
        self.store, self.session, self.rows, self.measured, self.sized = store, None, 0, 0, 0
        self.noticed, self.reach = 0, None
        self.banded: tuple[Any, tuple[Band, ...]] = (None, ())
        self.loss = loss_chart()
        steps = Range1d(0, 1000)
        self.gauges, self.sizes, self.cursor = probes.gauge_chart(steps), size_strips(steps), Cursor()
        self.cursor.link(self.gauges.figure, *self.sizes.figures)
        self.axis = pmui.Select(
            label="x axis", options=list(AXES), value=store.axis, width=170, size="small", margin=(2, 10),
            description="Another axis changes the picture, never the data.",
        )  # fmt: skip
        bind(self.axis, store, "axis")
        self.key = html(self.loss.key, styles={"flex": "1 1 200px", "align-self": "center"}, margin=(4, 10, 0, 10))
        self.estimated = html("")
        store.param.watch(lambda event: self._turn(event.new), "axis")
        self._turn(store.axis)
        questions = "".join(say(f"{gauge.name}: {gauge.question} ({gauge.source})", "quiet") for gauge in PROBES)
        explained = f"<details><summary>About these probes</summary>{questions}</details>"
        self.none = html("")
        self.mark = OnScreen()
        self.loss_column = pmui.Column(
            self.mark,
            pn.FlexBox(self.axis, self.key, flex_wrap="wrap", sizing_mode="stretch_width", margin=0),
            pn.pane.Bokeh(self.loss.figure, sizing_mode="stretch_width", margin=(0, 10)),
            self.estimated,
            margin=0, sizing_mode="stretch_width",
        )  # fmt: skip
        strips = [pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=(0, 10)) for plot in self.sizes.figures]
        self.widgets = [
            heading("Probes (zero-shot accuracy)"),
            self.none,
            html(probes.KEY),
            pn.pane.Bokeh(self.gauges.figure, sizing_mode="stretch_width", margin=(0, 10)),
            html(explained),
            heading("Inside the layers: gradient norm, how far a step moves them"),
            beside(*strips),
        ]

    def _turn(self, axis: str) -> None:
        self.loss.over(axis)
        (self.cursor.link if AXES[axis] == "step" else self.cursor.leave)(self.loss.figure)
        self.estimated.object = say(ESTIMATED.get(axis, ""), "quiet")
        self.limits()

    def limits(self) -> None:
        """How far the axes reach, and the key of what is drawn."""
        session = self.session
        if session is None:
            return
        run, last = session.run, session.rows[-1] if session.rows else None
        words = _names_words(session)
        unigram = session.unigram_entropy if words else None
        reach = (self.loss.reach(last, run.last), unigram, run.entry.bound(run.corpus) if words else None, not last)
        if reach != self.reach:
            self.reach = reach
            self.loss.limits(*reach[:-1])
            self.gauges.figure.x_range.end = run.last or max(100, last.step if last else 0)
            self.key.object = self.loss.key

    def bands(self, siblings: ExtraSeeds | None) -> tuple[Band, ...]:
        """The band over all seeds, drawn anew where one of them was evaluated."""
        if siblings is None or self.session is None:
            return ()
        state = (siblings, len(siblings.evaluated), len(self.loss.held_out.data["step"]))
        if state != self.banded[0]:
            self.banded = state, siblings.bands(self.session.rows)
            self.loss.band.data, self.reach = band(self.session.rows, self.banded[1]), None
        return self.banded[1]

    def follow(self, session: Session, at_once: bool = True) -> None:
        """Draw what is new of a session; another session is drawn anew, the loss only where it is on screen."""
        fresh = session is not self.session
        if fresh:
            self.session, self.rows, self.measured, self.sized, self.noticed = session, 0, 0, 0, 0
        rows, measured = session.rows[self.rows :], session.measured[self.measured :]
        sized, noticed = session.sizes[self.sized :], len(session.noticed)
        if fresh or (rows and (at_once or self.mark.seen)):
            self.rows += len(rows)
            if fresh:
                self.loss.show(rows, _questions(session))
            else:
                self.loss.extend(rows)
        if fresh or measured:
            self.measured += len(measured)
            (self.gauges.show if fresh else self.gauges.extend)(measured)
            told = NO_GAUGE if measured and not measured[-1].gauges else ""
            if self.none.object != told:  # its words change, for a library's pane that is not drawn yet cannot appear
                self.none.object = told
        if fresh or sized:
            self.sized += len(sized)
            (self.sizes.show if fresh else self.sizes.extend)(sized, session.run.sizes_every)
        if marked := noticed != self.noticed:
            self.noticed = noticed
            self.loss.marks.data = marks(session.rows, [n.step for n in session.noticed])
        if fresh or marked:
            self.reach = None
            self.limits()


class _Head:
    """One attention head of the sentence that is watched, and the bookmarks of heads that learnt to do something."""

    def __init__(self) -> None:
        self.chart, self.caption = attention_chart(), changing("")
        self.strip, self.marked = film_strip(), None
        self.filmed: Any = None
        self.matrix = pmui.Select(label="matrix", options=["encoder"], value="encoder", width=150, margin=(4, 4))
        self.layer = pmui.IntInput(label="layer", value=1, start=1, end=2, width=90, margin=(4, 4))
        self.head = pmui.IntInput(label="head", value=1, start=1, end=4, width=90, margin=(4, 4))
        self.bookmarks = pmui.Row(margin=(0, 6), styles={"flex-wrap": "wrap"})
        self.session: Session | None = None
        self.mark, self.drawn = OnScreen(), (None, None)
        picture = pn.pane.Bokeh(self.chart.figure, sizing_mode="stretch_width")
        self.column = pmui.Column(
            self.mark, heading("One attention head"), pmui.Row(self.matrix, self.layer, self.head, margin=(0, 6)),
            self.bookmarks, picture, self.caption, heading("This head during training"),
            pn.pane.Bokeh(self.strip.figure, sizing_mode="stretch_width", margin=(0, 10)),
            margin=0, sizing_mode="stretch_width",
        )  # fmt: skip

    def follow(self, session: Session) -> None:
        """Draw the head that is picked as it is now, and a bookmark for each pattern that was noticed."""
        if session is not self.session:
            self.session, self.drawn, self.filmed, self.marked = session, (None, None), None, None
            self.bookmarks.objects = []
        for noticed in session.noticed[len(self.bookmarks.objects) :]:
            self.bookmarks.append(self._bookmark(noticed))
        view, picked = self._shown(session), (self.matrix.value, self.layer.value, self.head.value)
        if view is None:
            return
        self._film(session, picked)
        if view is self.drawn[0] and picked == self.drawn[1]:
            return
        self.drawn = (view, picked)
        _fit(view, self.matrix, self.layer, self.head)
        darkest = self.chart.show(view, self.matrix.value, self.layer.value - 1, self.head.value - 1)
        back = " Press the bookmark again to see it as it is now." if self.marked is not None else ""
        said = f"{title(self.matrix.value)}. After step {view.step}; the darkest cell weighs {darkest:.2f}.{back}"
        tell(self.caption, say(said, "quiet"))

    def _shown(self, session: Session) -> Predictions | None:
        """The head as it is now, or as it was at the bookmark that was pressed."""
        return dict(session.film).get(self.marked, session.view)

    def _film(self, session: Session, picked: tuple[str, int, int]) -> None:
        """Draw the strip anew where it has grown, or another head or moment is picked."""
        wanted = (len(session.film), picked, self.marked)
        if session.film and wanted != self.filmed:
            self.filmed = wanted
            matrix, layer, head = picked
            self.strip.show(session.film, matrix, layer - 1, head - 1, self.marked)

    def _bookmark(self, noticed: Noticed) -> Any:
        habit = noticed.habit
        button = pmui.Button(
            label=f"step {noticed.step}: {habit.pattern.name}", icon="bookmark", size="small", variant="outlined",
            margin=(2, 4), color="secondary",
            description=f"Layer {habit.layer + 1}, head {habit.head + 1} {habit.pattern.does}: {habit.weight:.0%} of "
            f"its weight, where looking everywhere alike would give {habit.chance:.0%}.",
        )  # fmt: skip
        button.on_click(lambda _: self._pick(noticed.step, habit))
        return button

    def _pick(self, step: int, habit: PatternScore) -> None:
        """Jump to the moment of a bookmark and to its head; pressed again, back to now."""
        there = (self.matrix.value, self.layer.value - 1, self.head.value - 1)
        again = self.marked == step and there == (habit.matrix, habit.layer, habit.head)
        self.marked = None if again else step
        self.matrix.value = habit.matrix
        self.layer.value, self.head.value = habit.layer + 1, habit.head + 1


def _fit(view: Predictions, matrix: Any, layer: Any, head: Any) -> None:
    """Offer the matrices, layers and heads that this model has."""
    names = list(view.weights)
    if matrix.options != names:
        matrix.param.update(options=names, value=matrix.value if matrix.value in names else names[0])
    layers, heads = view.weights[matrix.value].shape[:2]
    if (layer.end, head.end) != (layers, heads):
        layer.end, head.end = layers, heads


def _trouble(store: TrainStore, session: Session | None) -> str:
    failed = session.error if session is not None else ""
    trouble = session.trouble if session is not None else None
    kind = "notice" if trouble is not None and trouble.kind == "memory" else "trouble"
    noticed = say(store.notice, "notice")
    return (
        noticed
        + say(store.trouble, "trouble")
        + say(failed, "trouble")
        + say(trouble.sentence if trouble else "", kind)
    )


def _watched(session: Session | None) -> str:
    """Which text is watched, and that the film of a head keeps the one with which it began."""
    origin = getattr(session.look, "origin", "") if session is not None else ""
    if session is None or not session.film or session.look is session.filmed_with:
        return origin
    return f"{origin} The film of the head keeps the text with which it began."


def _state(session: Session) -> str:
    """What the run does, or how it ended."""
    state = session.state
    if state == "done" and session.reason in ENDS:
        return ENDS[session.reason].format(session.rows[-1].step if session.rows else 0)
    return PAUSING if state == "paused" and not session.rests else WORDS[state]


def _numbers(session: Session | None) -> str:
    if session is None:
        return figures(
            {"state": "ready", "step": "0", "loss (nats)": "–", "held out (nats)": "–", "tokens/s": "–", "device": "–"}
        )
    state = _state(session)  # first: what rests adds no row any more
    rows = session.rows
    stepped = [r for r in rows[-40:] if r.loss is not None]
    tested = next((r for r in reversed(rows) if r.held_out is not None), None)
    last = rows[-1] if rows else None
    questions = _questions(session)
    trained, held_out = _means(stepped, questions), {} if tested is None else _losses(tested, questions)
    return figures(
        {
            "state": state,
            "step": f"{last.step if last else 0} of {session.run.last}",
            **_named("loss", trained, questions),
            **_named("held out", held_out, questions),
            **_accuracy({} if tested is None else dict(tested.accuracy), questions),
            "tokens/s": f"{last.tokens / last.seconds:,.0f}" if last and last.seconds else "–",
            "device": f"{describe(session.run.device)}, seed {session.run.seed}",
        }
    )


def _accuracy(right: Mapping[str, float], questions: Sequence[str]) -> dict[str, str]:
    """The share of right answers at the last evaluation, of those questions whose answers are right or wrong."""
    several = len(questions) > 1
    return {f"accuracy, {name + ', ' if several else ''}held out": f"{share:.1%}" for name, share in right.items()}


def _questions(session: Session) -> tuple[str, ...]:
    """The names of what is asked, in the order of the losses."""
    return session.run.entry.objective.questions


def _names_words(session: Session) -> bool:
    """Whether words are asked for, as far as that is known, so that their frequencies are a level for the loss."""
    return getattr(session.look, "names_words", True)


def _losses(row: Row, questions: Sequence[str]) -> dict[str, float]:
    """The losses of a point by question; where a question was not asked, it is left out."""
    first = row.loss if row.loss is not None else row.held_out
    others = dict(row.more)
    name = next((q for q in questions if q not in others), "")
    return ({} if first is None else {name: first}) | others


def _means(rows: Sequence[Row], questions: Sequence[str]) -> dict[str, float]:
    """The mean loss of every question over some steps."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, value in _losses(row, questions).items():
            found.setdefault(name, []).append(value)
    return {name: fmean(values) for name, values in found.items()}


def _named(what: str, losses: Mapping[str, float], questions: Sequence[str]) -> dict[str, str]:
    """Losses as they are told: by the names of their questions where there are several."""
    if len(questions) < 2:
        return {f"{what} (nats)": f"{next(iter(losses.values())):.3f}" if losses else "–"}
    return {f"{what}, {name} (nats)": f"{losses[name]:.3f}" if name in losses else "–" for name in questions}
