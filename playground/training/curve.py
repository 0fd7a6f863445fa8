"""The curves of a run, made of its events: the one reader of steps and evaluations for pages, files and workers."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from playground.training.events import Evaluated, Started, Stepped, Unread
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class CurvePoint:
    """One point of the curves: a training step, or an evaluation. Losses are for each scored position."""

    step: int = 0
    loss: float | None = None
    """Training loss of the first target; null of an evaluation."""
    held_out: float | None = None
    """Held-out loss of the first target; null of a training step."""
    tokens: int = 0
    """Tokens of text so far."""
    seconds: float = 0.0
    """Training time so far."""
    more: tuple[tuple[str, float], ...] = ()
    """Loss of each target."""
    scored: int = 0
    """Scored positions so far."""
    flops: float = 0.0
    """Floating-point operations so far."""
    accuracy: tuple[tuple[str, float], ...] = ()
    """Share of right answers of each target, of an evaluation."""
    gauges: tuple[tuple[str, float], ...] = ()
    """What else was measured on held-out text, by name, of an evaluation."""

    def after(self, event: Stepped | Evaluated, learner: TrainState) -> "CurvePoint":
        """The next point: that of a step, with its operations, or of an evaluation."""
        if isinstance(event, Evaluated):
            pairs = {name: tuple(getattr(event, name).items()) for name in ("accuracy", "gauges")}
            more = tuple(event.terms.items())
            return replace(self, step=event.step, loss=None, held_out=event.held_out, more=more, **pairs)
        more, flops = tuple(event.read()[1].items()), self.flops + learner.operations(event.batch)
        return CurvePoint(event.step, more[0][1], None, event.tokens, event.seconds, more, event.scored, flops)


@dataclass
class Curve:
    """Makes points of the events of a run, as soon as they are known without waiting for a GPU; `last` is the newest.

    A run that goes on begins after the `last` point of what was kept.
    """

    last: CurvePoint = CurvePoint()
    learner: TrainState | None = None
    unread: Unread = field(default_factory=Unread)

    def read(self, event: object) -> list[CurvePoint]:
        """The points that are known after an event."""
        if isinstance(event, Started):
            self.learner = event.learner
        return self._points(self.unread.after(event))

    def rest(self) -> list[CurvePoint]:
        """The points of all steps that a GPU has been given, which is waited for."""
        return self._points(self.unread.rest())

    def _points(self, events: Iterable[Stepped | Evaluated]) -> list[CurvePoint]:
        points = []
        for event in events:
            assert self.learner is not None, "a run begins with Started"
            self.last = self.last.after(event, self.learner)
            points.append(self.last)
        return points
