"""A whole comparison as it was asked for: enough to run it again, from a command line or a notebook."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playground.corpora.sources import two_files
from playground.errors import Refusal
from playground.finetuning.comparing.budget_matching import rated
from playground.finetuning.comparing.compare import FIRST_CHOICE, Comparison, compare
from playground.finetuning.comparing.continual import Advanced, ContinualResult, continual, facts
from playground.finetuning.data.files import COLUMNS
from playground.finetuning.data.find import find_task
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, from_checkpoint
from playground.finetuning.run.record import Record
from playground.finetuning.run.scheduler import Elsewhere, TrialEvent
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import Strategy
from playground.tokenizing import Tokenizer
from playground.training.checkpoint import Checkpoint


@dataclass(frozen=True)
class ComparisonSpec:
    """What a person asks for; `strategies` are lines such as "full + L2-SP [embeddings 1-40 x0]".

    `task` is the name of a task, or a file with its columns such as "reviews.csv?text=said&label=stars".
    `extra_encoders` are folders of other runs whose vectors a strategy may read too, `then` tasks that are learnt
    afterwards.
    """

    base: str = "base"
    task: str = "sentiment"
    strategies: tuple[str, ...] = FIRST_CHOICE
    train_sizes: tuple[int, ...] = (64,)
    seeds: int = 3
    seed: int = 0
    steps: int = 80
    match: str = "steps"
    lr_policy: str = "own"
    workers: int = 1
    input_format: str | None = None
    parallelism: str = "auto"
    extra_encoders: tuple[str, ...] = ()
    then: tuple[str, ...] = ()

    @property
    def chosen(self) -> list[Strategy]:
        """The strategies that the lines mean."""
        return [read(line) for line in self.strategies]

    def seen_from(self, folder: Path) -> "ComparisonSpec":
        """The same with the paths of runs and files as they are from a folder."""

        def there(path: str) -> str:
            return Path(os.path.relpath(path, folder)).as_posix() if os.path.exists(path) else path

        def task(name: str) -> str:
            path, mark, columns = name.partition(COLUMNS)
            pair = two_files(path)
            if not pair and not os.path.isfile(path):
                return name
            return f"{'+'.join(there(str(one)) for one in pair or (path,))}{mark}{columns}"

        then, beside = tuple(map(task, self.then)), tuple(map(there, self.extra_encoders))
        return replace(self, base=there(self.base), task=task(self.task), then=then, extra_encoders=beside)

    def command(self) -> str:
        """The command line that does the same again."""
        words = [
            "playground", "compare", self.base, "--task", self.task, *_each("--then", self.then),
            "--strategies", ",".join(self.strategies), "--train-size", ",".join(map(str, self.train_sizes)),
            "--seeds", str(self.seeds), "--seed", str(self.seed), "--tuning-steps", str(self.steps),
            "--match", self.match, "--lr-policy", self.lr_policy,
        ]  # fmt: skip
        words += ["--input-format", self.input_format] if self.input_format else []
        return shlex.join([*words, *_each("--extra-encoder", self.extra_encoders)])

    def run(
        self,
        base: Base,
        tokenizer: Tokenizer,
        *,
        task: Task | None = None,
        chosen: Sequence[Strategy] = (),
        setting: FinetuneConfig | None = None,
        looks: int = 0,
        record: Record | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> Iterator[TrialEvent | Comparison]:
        """Run every lane; `looks` is how often a lane is looked at on its way."""
        setting = replace(setting or FinetuneConfig(), steps=self.steps, looks=looks, input_format=self.input_format)
        return compare(
            base, tokenizer, task or find_task(self.task), chosen or self.chosen, train_sizes=self.train_sizes,
            seeds=self.seeds, seed=self.seed, setting=setting, workers=self.workers, match=self.match,
            lr_policy=self.lr_policy, record=record, elsewhere=elsewhere, parallelism=self.parallelism,
        )  # fmt: skip

    @property
    def tasks(self) -> list[Task]:
        """The task and those that are learnt afterwards."""
        return [find_task(name) for name in (self.task, *self.then)]

    def run_in_turn(
        self, base: Base, tokenizer: Tokenizer, tasks: Sequence[Task] = (), chosen: Sequence[Strategy] = ()
    ) -> Iterator[Advanced | ContinualResult]:
        """Learn the tasks one after another with every strategy and seed."""
        setting = FinetuneConfig(steps=self.steps, input_format=self.input_format)
        some = [rated(strategy, self.lr_policy) for strategy in chosen or self.chosen]
        return continual(
            base, tokenizer, tasks or self.tasks, some,
            train_size=self.train_sizes[-1], seeds=self.seeds, seed=self.seed, setting=setting,
        )  # fmt: skip

    def again(self) -> Comparison:
        """The comparison, run from the saved model in the folder `base`."""
        from playground.training import checkpoint

        saved = checkpoint.load(self.base)
        *_, last = self.run(self.start(saved), saved.tokenizer)
        assert isinstance(last, Comparison)
        return last

    def again_in_turn(self) -> dict[str, Any]:
        """What comes out when the task and those of `then` are learnt in turn, from the saved model."""
        from playground.training import checkpoint

        saved = checkpoint.load(self.base)
        passed = [
            event
            for event in self.run_in_turn(self.start(saved), saved.tokenizer)
            if isinstance(event, ContinualResult)
        ]
        return facts(self.tasks, self.train_sizes[-1], passed)

    def start(self, saved: Checkpoint) -> Base:
        """Where the lanes begin: the saved model, its text where a strategy rehearses, and other runs beside it."""
        base = from_checkpoint(saved, rehearsed=any(strategy.rehearses for strategy in self.chosen))
        return accompanied(base, saved.tokenizer, self.extra_encoders)


def _each(option: str, values: Sequence[str]) -> list[str]:
    """An option that may come several times, before each of its values."""
    return [word for value in values for word in (option, value)]


def accompanied(base: Base, tokenizer: Tokenizer, runs: Sequence[str]) -> Base:
    """The base with other saved runs beside it."""
    from playground.training import checkpoint

    return with_others(base, tokenizer, {run: checkpoint.load(run, base.learner.device) for run in runs})


def with_others(base: Base, tokenizer: Tokenizer, saved: Mapping[str, Checkpoint]) -> Base:
    """The base with others beside it, which must number their words alike."""
    for run, other in saved.items():
        if other.tokenizer.words != tokenizer.words:
            raise Refusal(f"The run {run} has another vocabulary than the base; train both on the same corpus.")
    return replace(base, beside=tuple(other.learner for other in saved.values()))
