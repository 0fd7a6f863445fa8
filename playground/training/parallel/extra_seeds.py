"""The other seeds of a watched run: they train in worker processes, and pause and stop with it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from playground.errors import UserError
from playground.training.curve import CurvePoint
from playground.training.loop import Run
from playground.training.observe.look import ProbeSentence
from playground.training.parallel.seeds import Band, Finished, Observer, Point, bands, train_seeds
from playground.training.session import Session
from playground.training.store.runs import Runs
from playground.training.system import threads

log = logging.getLogger(__name__)


class ExtraSeeds:
    """Seeds like those of `playground train --seeds`; a thread receives what their workers send.

    They are kept in `folders`, with a `film` their moments too. States: "ready", "running", "paused", "done".
    """

    def __init__(
        self, run: Run, seeds: Sequence[int], workers: int, runs: Runs | None, folders: Mapping[int, Path],
        film: ProbeSentence | None = None,
    ) -> None:  # fmt: skip
        self.run = replace(run, out=None, sizes_every=0)
        self.seeds, self.workers = tuple(seeds), min(workers, len(seeds))
        self.folders, self.state, self.error = dict(folders), "ready", ""
        self.steps: dict[int, int] = dict.fromkeys(seeds, 0)
        self.evaluated: list[Point] = []
        self.finished: list[int] = []
        self._runs, self._film = runs, film
        self._prepare()

    def _prepare(self) -> None:
        film = self._film
        self._observer = Observer.of(self.folders, film, film.sentence if film else None)
        self._thread = threads.thread(self._work, self._observer.halt, f"seeds-{self.run.entry.name}")

    def again(self) -> None:
        """Train the seeds that an error stopped once more, from their first step."""
        left = self._left
        self.error, self.state = "", "ready"
        self.steps |= dict.fromkeys(left, 0)
        self.evaluated = [point for point in self.evaluated if point.seed not in left]
        self._prepare()

    @property
    def _left(self) -> tuple[int, ...]:
        return tuple(seed for seed in self.seeds if seed not in self.finished)

    def follow(self, session: Session) -> None:
        """Train or pause with the watched seed, and halt where it was stopped; when it is done, go on."""
        if session.state == "failed" or session.reason == "asked":
            self.stop()
        elif session.state != "ready":
            self._train(session.state != "paused")

    def _train(self, on: bool) -> None:
        if on and self.state == "ready":
            self.state = "running"
            self._thread.start()
        elif self.state == ("paused" if on else "running"):
            self.state = "running" if on else "paused"
            (self._observer.go.set if on else self._observer.go.clear)()

    def stop(self) -> None:
        """Halt every seed after the step that it takes; what was saved stays."""
        self._observer.halt.set()
        if self.state == "ready":
            self.state = "done"

    def bands(self, watched: Sequence[CurvePoint]) -> tuple[Band, ...]:
        """The band over all seeds so far, including the watched one with these rows."""
        own = [Point(self.run.seed, row) for row in watched if row.held_out is not None]
        return bands([*own, *self.evaluated])

    def _work(self) -> None:
        try:
            for event in train_seeds(self.run, self._left, self.workers, self._runs, observer=self._observer):
                if isinstance(event, Finished):
                    self.finished.append(event.seed)
                    continue
                self.steps[event.seed] = event.row.step
                if event.row.held_out is not None:
                    self.evaluated.append(event)
        except UserError as refusal:
            self.error = str(refusal)
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            log.exception("The other seeds of %s stopped.", self.run.entry.name)
            self.error = f"The other seeds stopped: {type(error).__name__}: {error}"
        self.state = "done"
