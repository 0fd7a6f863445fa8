"""What is measured while a model trains: the probes, the regret, and what a step does to the layers."""

from functools import cache

import panel as pn
from bokeh.models import Range1d

from playground.analysis.probes import PROBES
from playground.training import Session
from widgets.charts import probes, regret
from widgets.charts.chart import Cursor
from widgets.charts.layer_updates import HEIGHT, size_strips
from widgets.pages.layout import STRETCH, View, beside, column, heading, plot
from widgets.state.train.store import TrainStore
from widgets.theme import changing, html, say, tell

NO_FLOOR = say(
    "Regret is measured during training on the corpora reviews, agreement and facts, if each row is one text.",
    "quiet",
)
NO_PROBE = say("No probe fits this corpus: the words of the probes are not in its vocabulary.", "quiet")


def last_step(session: Session) -> int:
    """Where an axis of steps ends."""
    return session.run.last or max(100, session.rows[-1].step if session.rows else 0)


class ProbeCurves(View):
    """The accuracy of the probes, and the regret once there is any."""

    def __init__(self, train: TrainStore, cursor: Cursor) -> None:
        self.train = train
        self.measured = self.regretted = 0
        self.steps = Range1d(0, 1000)
        self.probes = probes.gauge_chart(self.steps, cursor)
        self.key, self.unlearnt = html(probes.KEY), changing(NO_FLOOR)
        about = "".join(say(f"{probe.name}: {probe.question} ({probe.source})", "quiet") for probe in PROBES)
        self.regret = cache(lambda: regret.regret_chart(self.steps, cursor))
        self.regrets = column(lambda: plot(self.regret(), margin=(0, 10)), later=True)
        super().__init__(
            column(
                heading("Probes (zero-shot accuracy)"), self.key, plot(self.probes, margin=(0, 10)),
                html(f"<details><summary>About these probes</summary>{about}</details>"),
                heading("Regret: nats above the best possible prediction"), self.unlearnt, self.regrets,
            )
        )  # fmt: skip

    def poll(self) -> None:
        """Draw what was measured since."""
        session = self.train.session
        if session is None:
            return
        if fresh := self.is_new(session):
            self.measured = self.regretted = 0
        measured, regrets = session.moments.measured[self.measured :], session.moments.regrets[self.regretted :]
        self.steps.end = last_step(session)
        if fresh or measured:
            self.measured += len(measured)
            self.probes.show(probes.values(session.moments.measured))
            self.key.object = (NO_PROBE if measured and not measured[-1].gauges else "") + probes.KEY
        if fresh or regrets:
            self.regretted += len(regrets)
            tell(self.unlearnt, say(regret.unlearnt(regrets[-1]), "quiet") if regrets else NO_FLOOR)
        if regrets or (fresh and self.regrets.sent):
            (self.regret().show if fresh else self.regret().extend)(regrets)
            self.regrets.send()


class LayerSizes(View):
    """What a step does to every group of layers."""

    def __init__(self, train: TrainStore, cursor: Cursor) -> None:
        self.train = train
        self.sized = 0
        self.steps = Range1d(0, 1000)
        self.sizes = cache(lambda: size_strips(self.steps, cursor))
        self.strips = column(
            lambda: beside(*(pn.pane.Bokeh(figure, margin=(0, 10), **STRETCH) for figure in self.sizes().figures)),
            later=True, min_height=HEIGHT,
        )  # fmt: skip
        super().__init__(column(heading("Gradient norm, and how far a step moves each layer"), self.strips))

    def poll(self) -> None:
        """Draw what was measured since."""
        session = self.train.session
        if session is None:
            return
        if fresh := self.is_new(session):
            self.sized = 0
        sized = session.moments.sizes[self.sized :]
        self.steps.end = last_step(session)
        if sized or (fresh and self.strips.sent):
            self.sized += len(sized)
            (self.sizes().show if fresh else self.sizes().extend)(sized, session.run.sizes_every)
            self.strips.send()
