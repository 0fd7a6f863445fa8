"""The other seeds of a run that somebody watches: they train beside it in worker processes and obey with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from playground.errors import Refusal
from playground.training.loop import Run
from playground.training.observe.look import ProbeSentence
from playground.training.parallel.seeds import Band, Finished, Observer, Point, bands, train_seeds
from playground.training.session import Row, Session
from playground.training.store.runs import Runs
from playground.training.system import threads


class ExtraSeeds:
    """Seeds in the same scheduler as those of `playground train --seeds`; a thread hears what their workers send.

    `folders` are made for them already; without them nothing is kept. With a `film` their gauges, bookmarks and frames
    are kept too, not what the layers do, which costs more. States: "ready", "running", "paused", "done".
    """

    def __init__(
        self,
        run: Run,
        seeds: Sequence[int],
        workers: int,
        runs: Runs | None,
        folders: Mapping[int, Path],
        film: ProbeSentence | None = None,
    ) -> None:
        self.run, self.seeds, self.workers = (
            replace(run, out=None, sizes_every=0),
            tuple(seeds),
            min(workers, len(seeds)),
        )
        self.folders, self.state, self.error = dict(folders), "ready", ""
        self.steps: dict[int, int] = dict.fromkeys(seeds, 0)
        self.evaluated: list[Point] = []
        self.finished: list[int] = []
        self._runs, self._beside = runs, Observer.of(folders, film, film.sentence if film else None)
        self._thread = threads.thread(self._work, self._beside.halt, f"seeds-{run.entry.name}")

    def follow(self, session: Session) -> None:
        """Do what the watched seed does: train or wait with it, halt where it was stopped; a finished one is no end."""
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
            (self._beside.go.set if on else self._beside.go.clear)()

    def stop(self) -> None:
        """Halt every seed after the step that it takes; what was saved stays."""
        self._beside.halt.set()
        if self.state == "ready":
            self.state = "done"

    def wait(self, seconds: float = 60.0) -> None:
        """Until all have ended (for scripts and tests)."""
        self._thread.join(seconds)

    def bands(self, watched: Sequence[Row]) -> tuple[Band, ...]:
        """The band over all seeds so far, that of the watched one, with these rows, among them."""
        own = [Point(self.run.seed, row) for row in watched if row.held_out is not None]
        return bands([*own, *self.evaluated])

    def _work(self) -> None:
        try:
            for event in train_seeds(self.run, self.seeds, self.workers, self._runs, beside=self._beside):
                self._hear(event)
        except Refusal as refusal:
            self.error = str(refusal)
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            self.error = f"The other seeds stopped: {type(error).__name__}: {error}"
        self.state = "done"

    def _hear(self, event: Point | Finished) -> None:
        if isinstance(event, Finished):
            self.finished.append(event.seed)
            return
        self.steps[event.seed] = event.row.step
        if event.row.held_out is not None:
            self.evaluated.append(event)
