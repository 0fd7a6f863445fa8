"""How much a watching page slows training: the same run with and without a watcher, in turns, in one process.

The watched stretches are drained ten times a second by the Train page's own tick, as in the served app, with its three
folded parts closed; the figure is the median over the rounds of the ratios of processor time per step of the whole
process, page and training together, because the machine is shared. What the browser draws, and the sending to it, is
not part of it.

    python benchmarks/watching.py --rounds 8 --seconds 4
"""

import argparse
import os
import platform
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import torch

from playground.training import Session
from widgets.pages import train
from widgets.training import TrainStore


def cost(session: Session, seconds: float) -> float:
    """Processor seconds of a step of a running session, over a stretch of time."""
    step, began = session.rows[-1].step, time.process_time()
    time.sleep(seconds)
    return (time.process_time() - began) / max(1, session.rows[-1].step - step)


class Watcher:
    """A thread that calls the tick of the page ten times a second while it is on."""

    def __init__(self, store: TrainStore) -> None:
        self.on = False
        _, self.tick = train.page(store, looking=lambda: self.on)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            time.sleep(0.1)
            if self.on:
                self.tick()


def main() -> None:
    """Print the slow-down as a share."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=8)
    asked.add_argument("--seconds", type=float, default=4.0)
    asked.add_argument("--entry", default="BERT")
    wanted = asked.parse_args()
    torch.set_num_threads(1)
    store = TrainStore(Path(tempfile.mkdtemp()), entry=wanted.entry, steps=20_000, device="cpu")
    watcher = Watcher(store)
    session = store.begin()
    assert session is not None, store.trouble
    session.start()
    while len(session.rows) < 20:
        time.sleep(0.1)
    ratios = []
    for number in range(wanted.rounds):
        spent = {}
        for on in (False, True) if number % 2 else (True, False):
            watcher.on = on
            time.sleep(1.7)  # a session takes itself for watched a little longer than it is
            spent[on] = cost(session, wanted.seconds)
        ratios.append(spent[True] / spent[False])
        told = f"round {number + 1}: {1e3 * spent[False]:.1f} ms a step unwatched, {1e3 * spent[True]:.1f} watched"
        print(told, file=sys.stderr, flush=True)
    store.end()
    load = os.getloadavg()[0]
    print(f"{wanted.entry} on {store.corpus}, {platform.machine()}, torch {torch.__version__}, load {load:.0f}")
    spread = f"{min(ratios) - 1:+.1%} to {max(ratios) - 1:+.1%}"
    print(f"dearer by {median(ratios) - 1:.1%} (median of {len(ratios)} rounds, {spread})")


if __name__ == "__main__":
    main()
