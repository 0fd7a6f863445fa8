"""Which of the runs that are kept suits which task: each is tried on each, while the page looks on."""

from pathlib import Path
from typing import Any

import param

from playground.corpora.readers.decode import Progress
from playground.errors import Refusal
from playground.finetuning import find_strategy, find_task
from playground.finetuning.comparing.model_selection import TriedRun, facts, try_all
from playground.finetuning.run.trainer import FinetuneConfig
from playground.training.store.runs import Runs
from widgets.state.job import Work

STRATEGY, LABELS, SEEDS, STEPS = "feature-based", 64, 3, 80
"""How a run is tried: nothing of it changes, so its vectors alone decide (as `playground choose` does)."""

FIRST_TASKS = ("sentiment", "topic", "entailment", "part of speech")


class ChoosingStore(param.Parameterized):
    """The runs and tasks that a person wants to see against each other, and what was found so far."""

    names = param.List([])
    tasks = param.List([])
    trouble = param.String("")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**{"tasks": list(FIRST_TASKS), **values})
        self.runs = None if runs is None else Runs(runs)
        self.trying = Work("trying of runs")
        self.tried: list[TriedRun] = []

    def begin(self) -> None:
        """Evaluate every run on every task; why that cannot be is said in `trouble`."""
        try:
            self._begin(list(self.names), [find_task(name) for name in self.tasks])
            self.trouble = ""
        except Refusal as refusal:
            self.trouble = str(refusal)

    def _begin(self, names: list[str], tasks: list[Any]) -> None:
        if self.runs is None or not names:
            raise Refusal("No run is chosen; choose at least one, or train one first.")
        if not tasks:
            raise Refusal("No task is chosen; choose at least one.")
        saved = {name: self.runs.load(name) for name in names}
        tried: list[TriedRun] = []
        self.tried = tried

        def work(progress: Progress) -> None:
            strategy, setting = find_strategy(STRATEGY), FinetuneConfig(STEPS)
            for one in try_all(saved, tasks, strategy, LABELS, SEEDS, 0, setting):
                tried.append(one)
                progress(len(tried), len(saved) * len(tasks))

        self.trying.begin(work)

    @property
    def found(self) -> dict[str, Any] | None:
        """What was found so far."""
        tried = list(self.tried)
        return facts(tried) if tried else None

    def end(self) -> None:
        """Stop trying."""
        self.trying.forget()
