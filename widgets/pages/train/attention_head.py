"""One attention head of the probe sentence, now and during training."""

from typing import Any

import panel_material_ui as pmui

from playground.analysis.attention_patterns import PatternScore
from playground.analysis.predictions import Predictions
from playground.batch import MASK_TITLES
from playground.training import Session
from playground.training.observe.recording import Noticed
from widgets.browser import OnScreen
from widgets.charts.attention import attention_chart
from widgets.charts.attention_history import film_strip
from widgets.pages.layout import View, button, column, heading, plot, row
from widgets.state.train import TrainStore
from widgets.theme import changing, say, tell

DRAWN = 424
"""Pixels that the pictures of a head take, kept free until the first one is drawn."""


class AttentionHead(View):
    """The head that is picked, and a bookmark for each head in which an attention pattern was noticed."""

    def __init__(self, train: TrainStore) -> None:
        self.train = train
        self.session: Session | None = None
        self.chart, self.strip, self.caption = attention_chart(), film_strip(), changing("")
        self.matrix = pmui.Select(label="matrix", options=["encoder"], value="encoder", width=150, margin=(4, 4))
        self.layer = pmui.IntInput(label="layer", value=1, start=1, end=2, width=90, margin=(4, 4))
        self.head = pmui.IntInput(label="head", value=1, start=1, end=4, width=90, margin=(4, 4))
        self.bookmarks = row(margin=(0, 6))
        self.mark, self.drawn, self.filmed, self.marked = OnScreen(), (None, None), None, None
        self.drawings = column(
            plot(self.chart), self.caption, heading("This head during training"), plot(self.strip, margin=(0, 10)),
            later=True, min_height=DRAWN,
        )  # fmt: skip
        super().__init__(
            column(
                self.mark, heading("One attention head"), row(self.matrix, self.layer, self.head, margin=(0, 6)),
                self.bookmarks, self.drawings,
            )
        )  # fmt: skip

    def poll(self) -> None:
        session = self.train.session
        if session is not self.session:
            self.session, self.drawn, self.filmed, self.marked = session, (None, None), None, None
            self.bookmarks.objects = []
        if session is None:
            return
        for noticed in session.noticed[len(self.bookmarks.objects) :]:
            self.bookmarks.append(self._bookmark(noticed))
        view: Predictions | None = dict(session.film).get(self.marked, session.view)  # at the bookmark, or now
        picked = (self.matrix.value, self.layer.value, self.head.value)
        if view is None:
            return
        self._film(session, picked)
        if view is self.drawn[0] and picked == self.drawn[1]:
            return
        self.drawn = (view, picked)
        self._fit(view)
        darkest = self.chart.show(view, self.matrix.value, self.layer.value - 1, self.head.value - 1)
        back = " Press the bookmark again to see it as it is now." if self.marked is not None else ""
        stream = "" if self.matrix.value == "encoder" else f"{MASK_TITLES[self.matrix.value]}. "
        text = f"{stream}Attention weights after step {view.step}; the darkest cell is {darkest:.2f}.{back}"
        tell(self.caption, say(text, "quiet"))
        self.drawings.send()

    def _film(self, session: Session, picked: tuple[str, int, int]) -> None:
        """Draw the history again where it has grown, or another head or moment is picked."""
        wanted = (len(session.film), picked, self.marked)
        if session.film and wanted != self.filmed:
            self.filmed = wanted
            matrix, layer, head = picked
            self.strip.show(session.film, matrix, layer - 1, head - 1, self.marked)

    def _fit(self, view: Predictions) -> None:
        names = list(view.weights)
        if self.matrix.options != names:
            self.matrix.param.update(options=names, value=self.matrix.value if self.matrix.value in names else names[0])
        self.layer.end, self.head.end = view.weights[self.matrix.value].shape[:2]

    def _bookmark(self, noticed: Noticed) -> Any:
        habit = noticed.habit
        return button(
            f"step {noticed.step}: {habit.pattern.name}", lambda: self._pick(noticed.step, habit), "bookmark",
            margin=(2, 4), color="secondary",
            description=f"Layer {habit.layer + 1}, head {habit.head + 1} {habit.pattern.does}: {habit.weight:.0%} of "
            f"its weight, where uniform attention would give {habit.chance:.0%}.",
        )  # fmt: skip

    def _pick(self, step: int, habit: PatternScore) -> None:
        """Jump to the moment of a bookmark and to its head; pressed again, back to now."""
        there = (self.matrix.value, self.layer.value - 1, self.head.value - 1)
        again = self.marked == step and there == (habit.matrix, habit.layer, habit.head)
        self.marked = None if again else step
        self.matrix.value, self.layer.value, self.head.value = habit.matrix, habit.layer + 1, habit.head + 1
