"""Recorded runs of the systems of Table 1: their curves stand faintly where a person's own will be.

`python -m widgets.charts.reference_run [ENTRY ...]` trains them on one thread and writes them again, in some ten
minutes.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from playground.corpora import open_corpus
from playground.training import Evaluated, Run, train
from playground.zoo import Entry, entry_named
from playground.zoo.preset import FAST
from playground.zoo.surveys import TABLE_1

EVERY = 25
"""Steps between evaluations, as on the Train page."""

FILE = Path(__file__).parent / "recorded.json"


@dataclass(frozen=True)
class Recorded:
    """The held-out loss of a run's first question, per position, in `unit`, every `EVERY` steps from 0 on."""

    entry: str
    corpus: str
    unit: str
    held_out: tuple[float, ...]

    @property
    def title(self) -> str:
        return f"Recorded: {self.entry} on {self.corpus}, seed 0"

    @property
    def steps(self) -> int:
        return EVERY * (len(self.held_out) - 1)


def run_of(name: str) -> Run:
    """The run with which the Train page begins an entry: the fast recipe, the entry's own corpus, seed 0, a CPU."""
    entry = FAST(entry_named(name))
    return Run(entry, open_corpus(entry.corpus), evaluate_every=EVERY)


def held_out(run: Run) -> Iterator[float]:
    """The held-out losses of its first question as it trains."""
    for event in train(run):
        if isinstance(event, Evaluated):
            yield event.held_out


@cache
def losses() -> dict[str, list[float]]:
    """What is recorded, by the names of the entries."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def recorded(name: str) -> Recorded | None:
    """The recorded run of an entry; None where there is none."""
    if name not in losses():
        return None
    entry = entry_named(name)
    return Recorded(name, entry.corpus, entry.unit(entry.target_names[0]), tuple(losses()[name]))


def recorded_of(about_to_train: tuple[Entry, str, int] | None) -> Recorded | None:
    """The recorded run of an entry, a corpus and a seed; None where no run of the very same is recorded."""
    if about_to_train is None or (run := recorded(about_to_train[0].name)) is None:
        return None
    entry = FAST(entry_named(about_to_train[0].name))
    return run if about_to_train == (entry, entry.corpus, 0) else None


def main() -> None:
    """Train what is named, else all of Table 1, and write the file."""
    torch.set_num_threads(1)
    names = sys.argv[1:] or TABLE_1
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    known |= {name: [round(loss, 3) for loss in held_out(run_of(name))] for name in names}
    lines = (f"  {json.dumps(name)}: {json.dumps(known[name])}" for name in TABLE_1 if name in known)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
