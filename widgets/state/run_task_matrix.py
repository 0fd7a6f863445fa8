"""Which kept run suits which task: every run is evaluated on every task in the background."""

from pathlib import Path
from typing import Any

import param

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning import find_task
from playground.finetuning.comparing.model_selection import TriedRun, facts, try_all
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.training.store.runs import Runs
from widgets.state.job import Job, as_trouble
from widgets.state.train.kept_runs import runs_folder

STRATEGY, LABELS, SEEDS, STEPS = "feature-based", 64, 3, 80
"""How a run is evaluated: nothing of it changes, so its vectors alone decide (as `playground choose` does)."""

FIRST_TASKS = ("sentiment", "topic", "entailment", "part of speech")


class RunTaskMatrixStore(param.Parameterized):
    """The runs and the tasks of the matrix, and its cells so far."""

    names = param.List([], label="runs")
    tasks = param.List([], label="tasks")
    trouble = param.String("")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**{"tasks": list(FIRST_TASKS), **values})
        self.runs = Runs(runs or runs_folder())
        self.trying = Job("evaluation of runs")
        self.tried: list[TriedRun] = []

    @as_trouble
    def begin(self) -> None:
        """Evaluate every run on every task; why that cannot be is said in `trouble`."""
        tasks = [find_task(name) for name in self.tasks]
        if not self.names:
            raise UserError("No run is chosen; choose at least one, or train one first.")
        if not tasks:
            raise UserError("No task is chosen; choose at least one.")
        saved = {name: self.runs.load(name) for name in self.names}
        tried: list[TriedRun] = []
        self.tried = tried

        def evaluate(progress: Progress) -> None:
            spec = ComparisonSpec(strategies=(STRATEGY,), train_sizes=(LABELS,), seeds=SEEDS, steps=STEPS)
            for one in try_all(saved, tasks, spec):
                tried.append(one)
                progress(len(tried), len(saved) * len(tasks))

        self.trying.begin(evaluate)

    @property
    def found(self) -> dict[str, Any] | None:
        """The cells so far."""
        tried = list(self.tried)
        return facts(tried) if tried else None
