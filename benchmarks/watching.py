"""How much a watching page slows training: the same run in the served app with its page followed and not, in turns.

One process trains and serves, as `playground app` does; Chromium (or what CHROMIUM names) shows the page, a process of
its own whose time does not count, though it draws on the same machine. In the turns without a watcher the page's tick
is switched off. Three things are told, medians over the rounds: the ratios of the processor time of our process per
step; the ratios of the steps by the clock, which takes a quiet machine with a core to spare for the browser; and what
the page's thread and the looks at the model took, beside what the training took, which holds on a busy machine too.

    python benchmarks/watching.py --rounds 8 --seconds 4
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import panel as pn
import panel_material_ui as pmui
import torch
from playwright.sync_api import Page, sync_playwright

from playground.training import Session
from tests.chromium import chromium
from widgets.app import server
from widgets.app.session import poll
from widgets.pages.train.page import TrainPage
from widgets.state.train.store import TrainStore

COUNT = """async seconds => {
    const models = [...Bokeh.documents[0].all_models];
    const length = () => Math.max(...models.filter(m => m.data && m.data.flops).map(m => m.data.flops.length));
    let times = 0, before = length(), end = performance.now() + 1000 * seconds;
    while (performance.now() < end) {
        await new Promise(done => setTimeout(done, 15));
        if (length() !== before) { times += 1; before = length(); }
    }
    return times;
}"""
"""How often the loss grew on screen."""


@dataclass(frozen=True)
class Stretch:
    """What happened in a stretch of time; seconds of the clock, of the process and of its parts."""

    steps: int
    clock: float
    process: float
    page: float
    looks: float
    training: float
    drawn: float
    looked: float

    @property
    def step(self) -> float:
        """Processor seconds of a step."""
        return self.process / self.steps

    @property
    def taken(self) -> float:
        """What watching took beside the training."""
        return (self.page + self.looks) / (self.training - self.looks)


class Watched:
    """A run and the page that follows it while `switch` says so."""

    def __init__(self, entry: str) -> None:
        self.store = TrainStore(Path(tempfile.mkdtemp()), entry=entry, steps=20_000, device="cpu")
        self.looks: list[float] = []
        self.threads: list[int] = []

    def visit(self) -> Any:
        """The Train page alone, for one visitor."""
        page = TrainPage(self.store)
        self.callback = poll(page.poll)
        assert pn.state.curdoc is not None, "the page is made for a visit"
        self.later = pn.state.curdoc.add_next_tick_callback
        return pmui.Page(main=[page], title="watched")

    def switch(self, on: bool) -> None:
        """Follow the run, or let it be."""
        act = self.callback.start if on else self.callback.stop
        self.later(lambda: None if self.callback.running == on else act())
        time.sleep(1.8)  # a session takes itself for watched a little longer than it is

    def begin(self, serving: int) -> Session:
        """Train, and take the time of every look."""
        session = self.store.begin()
        assert session is not None, self.store.trouble
        assert session.viewer.look is not None, "a watched run is looked at"
        session.viewer.look = self._timed(session.viewer.look)
        session.start()
        while len(session.rows) < 40:
            time.sleep(0.1)
        self.threads = [time.pthread_getcpuclockid(ident) for ident in (serving, session._thread.ident or 0)]
        return session

    def _timed(self, look: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def timed(learner: Any) -> Any:
            began = time.thread_time()
            seen = look(learner)
            self.looks.append(time.thread_time() - began)
            return seen

        return timed

    def stretch(self, session: Session, wait: Callable[[], int]) -> Stretch:
        """What happens while somebody waits, who says how often the screen changed."""
        self.looks.clear()
        step, before = session.rows[-1].step, self._clocks()
        drawn = wait()
        clock, process, page, training = (b - a for a, b in zip(before, self._clocks(), strict=True))
        steps = max(1, session.rows[-1].step - step)
        looks, looked = sum(self.looks), len(self.looks) / clock
        return Stretch(steps, clock, process, page, looks, training, drawn / clock, looked)

    def _clocks(self) -> list[float]:
        return [time.perf_counter(), time.process_time(), *map(time.clock_gettime, self.threads)]


@contextmanager
def shown(watched: Watched, height: int = 1800) -> Iterator[tuple[Page, int]]:
    """The page in a browser with a window so high, and the thread that serves it."""
    port = server.free_port()
    thread = pn.serve(
        watched.visit, port=port, address="127.0.0.1", show=False, threaded=True, verbose=False,
        websocket_origin=[f"localhost:{port}"],
    )  # fmt: skip
    serving = getattr(thread, "ident", 0)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": height})
        page.goto(f"http://localhost:{port}")
        page.get_by_role("button", name="Train", exact=True).wait_for(timeout=60_000)
        yield page, serving
        browser.close()
    thread.stop()


def rounds(watched: Watched, number: int, seconds: float, height: int) -> list[tuple[Stretch, Stretch]]:
    """The stretches without and with a watcher, in turns."""
    found = []
    with shown(watched, height) as (page, thread):
        session = watched.begin(thread)
        for k in range(number):
            turn = {}
            for on in (False, True) if k % 2 else (True, False):
                watched.switch(on)
                turn[on] = watched.stretch(session, lambda: page.evaluate(COUNT, seconds))
            found.append((turn[False], turn[True]))
            print(_told(k + 1, turn[False], turn[True]), file=sys.stderr, flush=True)
        watched.store.end()
    return found


def _told(number: int, off: Stretch, on: Stretch) -> str:
    return (
        f"round {number}: {1e3 * off.step:.1f} ms a step unwatched, {1e3 * on.step:.1f} watched; "
        f"{off.steps / off.clock:.1f} and {on.steps / on.clock:.1f} steps a second; watching took {on.taken:.1%}; "
        f"{on.drawn:.1f} pictures of the loss and {on.looked:.1f} looks a second"
    )


def main() -> None:
    """Print the slow-down as shares."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=8)
    asked.add_argument("--seconds", type=float, default=4.0)
    asked.add_argument("--entry", default="RoBERTa")
    asked.add_argument("--height", type=int, default=1800, help="of the window; in 1800 pixels everything is on screen")
    wanted = asked.parse_args()
    torch.set_num_threads(1)
    watched = Watched(wanted.entry)
    found = rounds(watched, wanted.rounds, wanted.seconds, wanted.height)
    load = os.getloadavg()[0]
    print(f"{wanted.entry} on {watched.store.corpus}, {platform.machine()}, torch {torch.__version__}, load {load:.0f}")
    _say("a step is dearer by", [on.step / off.step - 1 for off, on in found])
    _say("by the clock training is slower by", [1 - on.steps * off.clock / on.clock / off.steps for off, on in found])
    _say("the page and the looks took, beside the training,", [on.taken for _, on in found])
    drawn, looked = median(on.drawn for _, on in found), median(on.looked for _, on in found)
    print(f"{drawn:.1f} pictures of the loss and {looked:.1f} looks a second")


def _say(what: str, shares: list[float]) -> None:
    print(f"{what} {median(shares):.1%} (median of {len(shares)} rounds, {min(shares):+.1%} to {max(shares):+.1%})")


if __name__ == "__main__":
    main()
