"""One attention head of the probe sentence, now and during training."""

from functools import cache
from typing import Any

import panel_material_ui as pmui
from bokeh.events import Pan, Tap

from playground.analysis.attention_patterns import PatternScore
from playground.analysis.predictions import Predictions
from playground.training import Session
from playground.training.observe.recording import Noticed
from widgets.browser.components import OnScreen
from widgets.charts import attention, attention_history
from widgets.charts.chart import Chart
from widgets.pages.layout import STRETCH, View, button, column, plot, row
from widgets.state.train.store import TrainStore
from widgets.theme import changing, html, say, tell

SMALL_FIELD = {"size": "small", "margin": (4, 4)}


class AttentionHead(View):
    """The head that is picked, and its film: a frame or a bookmark chosen there is the `moment` of the whole page."""

    def __init__(self, train: TrainStore) -> None:
        self.train = train
        self.session: Session | None = None
        self.caption = changing("")
        self.caption.styles = {"flex": "1 1 120px"}
        self.matrix = pmui.Select(label="matrix", options=["encoder"], value="encoder", width=120, **SMALL_FIELD)
        self.layer = pmui.IntInput(label="layer", value=1, start=1, end=2, width=84, **SMALL_FIELD)
        self.head = pmui.IntInput(label="head", value=1, start=1, end=4, width=84, **SMALL_FIELD)
        self.bookmarks = row(styles={"flex": "1000 1 420px"})
        self.now = button("Back to now", self._follow, "update", visible=False, margin=(2, 4))
        self.mark, self.drawn = OnScreen(), (None, None)
        said = say("Earlier steps: click or drag.", "quiet")
        about = html(said, margin=(4, 10), styles={"flex": "1 1 230px"})
        self.chart, self.strip = cache(attention.attention_chart), cache(self._strip)
        self.drawings = column(lambda: plot(self.chart()), later=True, min_height=attention.HEIGHT)
        self.frames = column(
            lambda: plot(self.strip(), margin=(0, 10)), later=True, min_height=attention_history.HEIGHT
        )
        self.film = column(row(about, self.bookmarks, self.now, **STRETCH), self.frames)
        top = row(self.matrix, self.layer, self.head, self.caption, margin=(0, 6))
        super().__init__(column(self.mark, top, self.drawings))

    def _strip(self) -> Chart:
        """The film."""
        made = attention_history.film_strip()
        made.figure.on_event(Tap, self._tap)
        made.figure.on_event(Pan, self._tap)
        return made

    def seen(self, session: Session) -> Predictions | None:
        """What the page shows of a session: the moment of the film that was chosen, or now."""
        return dict(session.moments.film).get(self.train.moment, session.viewer.view)

    def _follow(self) -> None:
        self.train.moment = None

    def _tap(self, event: Any) -> None:
        """The frame that is pressed or dragged to."""
        film = self.session.moments.film if self.session is not None else []
        if film and event.x is not None:
            self.train.moment = film[min(max(int(event.x), 0), len(film) - 1)][0]

    def poll(self) -> None:
        session = self.train.session
        if session is not self.session:
            self.session, self.drawn = session, (None, None)
            self.bookmarks.objects = []
        if session is None:
            return
        for noticed in session.moments.noticed[len(self.bookmarks.objects) :]:
            self.bookmarks.append(self._bookmark(noticed))
        view, self.now.visible = self.seen(session), self.train.moment is not None
        picked = (self.matrix.value, self.layer.value, self.head.value)
        if view is None:
            return
        self._film(session, picked)
        if view is self.drawn[0] and picked == self.drawn[1]:
            return
        self.drawn = (view, picked)
        self._fit(view)
        highest = self.chart().show(view, self.matrix.value, self.layer.value - 1, self.head.value - 1)
        text = f"Attention weights after step {view.step}; the highest is {highest:.2f}."
        tell(self.caption, say(text, "quiet"))
        self.drawings.send()

    def _film(self, session: Session, picked: tuple[str, int, int]) -> None:
        """Draw the history again where it has grown, or another head or moment is picked."""
        to_show = (session, len(session.moments.film), picked, self.train.moment)
        if session.moments.film and self.is_new(to_show, "film"):
            matrix, layer, head = picked
            self.strip().show(session.moments.film, matrix, layer - 1, head - 1, self.train.moment)
            self.frames.send()

    def _fit(self, view: Predictions) -> None:
        names = list(view.weights)
        if self.matrix.options != names:
            self.matrix.param.update(options=names, value=self.matrix.value if self.matrix.value in names else names[0])
        self.layer.end, self.head.end = view.weights[self.matrix.value].shape[:2]

    def _bookmark(self, noticed: Noticed) -> Any:
        habit = noticed.habit
        return button(
            f"{noticed.step}: {habit.pattern.name}", lambda: self._pick(noticed.step, habit), "bookmark",
            margin=(2, 4), color="secondary",
            description=f"Layer {habit.layer + 1}, head {habit.head + 1} {habit.pattern.does}: {habit.weight:.0%} of "
            f"its weight, where uniform attention would give {habit.chance:.0%}.",
        )  # fmt: skip

    def _pick(self, step: int, habit: PatternScore) -> None:
        """Jump to the moment of a bookmark and to its head; pressed again, back to now."""
        there = (self.matrix.value, self.layer.value - 1, self.head.value - 1)
        again = self.train.moment == step and there == (habit.matrix, habit.layer, habit.head)
        self.train.moment = None if again else step
        self.matrix.value, self.layer.value, self.head.value = habit.matrix, habit.layer + 1, habit.head + 1
