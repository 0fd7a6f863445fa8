"""A whole comparison as it was asked for: enough to run it again, from a command line or a notebook."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from playground.corpora.sources import two_files
from playground.errors import UserError
from playground.finetuning.comparing.budget_matching import check_rules
from playground.finetuning.comparing.significance import SEEDS, describe_power
from playground.finetuning.data.files import COLUMNS, find_task, path_and_columns
from playground.finetuning.data.input_format import MAX_LENGTH, find_format
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, from_checkpoint
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import Strategy
from playground.knob import Knob, check, check_knobs, knob
from playground.parsing import LIMITS
from playground.tokenizing import Tokenizer
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint

FIRST_CHOICE = ("feature-based", "full", "gradual unfreezing")
"""The strategies to begin with: nothing changes, everything changes, one layer after the other."""

TRAIN_SIZE = Knob("train_size", 64, 2, LIMITS["texts"], (), "labelled texts", "")
"""The number of labelled texts to learn from."""


@dataclass(frozen=True)
class ComparisonSpec:
    """What a person asks for; `strategies` are lines such as "full + L2-SP [embeddings 1-40 x0]".

    `task` is the name of a task, or a file with its columns such as "reviews.csv?text=said&label=stars", `then` are
    tasks that are learnt afterwards. `match` says what the trials have alike beside seeds and texts, `lr_policy` where
    learning rates come from. `workers` are processes with one thread each; `parallelism` is "processes", "vmap" (trials
    whose heads read alike advance together as one model) or "auto": vmap on CUDA, else processes. `extra_encoders` are
    folders of other runs whose vectors a strategy may read too, `max_length` the maximum tokens of the texts in a row
    (None: as long as the texts are, up to 504 or what the model can read).
    """

    base: str = "base"
    task: str = "sentiment"
    strategies: tuple[str, ...] = FIRST_CHOICE
    train_sizes: tuple[int, ...] = (64,)
    seeds: int = knob(SEEDS, 1, LIMITS["seeds"], unit="seeds")
    seed: int = 0
    steps: int = knob(80, 1, LIMITS["steps"], unit="steps")
    match: str = "steps"
    lr_policy: str = "own"
    workers: int = knob(1, 1, LIMITS["processes"], unit="processes")
    input_format: str | None = None
    parallelism: str = "auto"
    extra_encoders: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    max_length: int | None = None

    @property
    def chosen(self) -> list[Strategy]:
        return [read(line) for line in self.strategies]

    @property
    def tasks(self) -> list[Task]:
        """The task and those that are learnt afterwards."""
        return [find_task(name) for name in (self.task, *self.then)]

    @property
    def power(self) -> str:
        """What its seeds can find, in words; nothing where one strategy stands alone or tasks follow each other."""
        others, sizes = len(set(self.strategies)) - 1, len(set(self.train_sizes))
        best = others > 1 or sizes > 1  # with the runner-up
        return describe_power(self.seeds, others * sizes + best) if others > 0 and not self.then else ""

    def check(self, chosen: Sequence[Strategy]) -> None:
        """Refuse what cannot be compared."""
        if not chosen:
            raise UserError("No strategy is named; name at least one.")
        names = [s.name for s in dict.fromkeys(chosen)]
        if len(names) > len(set(names)):
            raise UserError(f"Two different strategies have one name ({', '.join(names)}); give one of them another.")
        if not self.train_sizes:
            raise UserError("train_size is empty; name at least one number of labelled texts.")
        for size in self.train_sizes:
            check(TRAIN_SIZE, size)
        check_knobs(self)
        check_rules(self.match, self.lr_policy)
        if self.match != "steps" and chosen[0].prompt:
            raise UserError(
                f"match is {self.match!r}, but the first strategy, {chosen[0].name}, trains nothing that the others "
                "could be matched with; name one first that trains."
            )
        if self.input_format is not None:
            find_format(self.input_format)
        if self.max_length is not None:
            check(MAX_LENGTH, self.max_length)

    def seen_from(self, folder: Path) -> "ComparisonSpec":
        """The same with the paths of runs and files relative to a folder."""

        def relative(path: str) -> str:
            return Path(os.path.relpath(path, folder)).as_posix() if os.path.exists(path) else path

        def task(name: str) -> str:
            path, columns = path_and_columns(name)
            pair = two_files(path)
            if not pair and not os.path.isfile(path):
                return name
            return f"{'+'.join(relative(str(one)) for one in pair or (path,))}{COLUMNS * bool(columns)}{columns}"

        then, extra = tuple(map(task, self.then)), tuple(map(relative, self.extra_encoders))
        return replace(self, base=relative(self.base), task=task(self.task), then=then, extra_encoders=extra)

    def command(self) -> str:
        """The command line that does the same again."""
        words = [
            "playground", "compare", self.base, "--task", self.task, *_each("--then", self.then),
            "--strategies", ",".join(self.strategies), "--train-size", ",".join(map(str, self.train_sizes)),
            "--seeds", str(self.seeds), "--seed", str(self.seed), "--tuning-steps", str(self.steps),
            "--match", self.match, "--lr-policy", self.lr_policy,
        ]  # fmt: skip
        words += ["--input-format", self.input_format] if self.input_format else []
        words += ["--max-length", str(self.max_length)] if self.max_length else []
        words += ["--parallelism", self.parallelism] if self.parallelism != "auto" else []
        return shlex.join([*words, *_each("--extra-encoder", self.extra_encoders)])

    def start(self, saved: Checkpoint) -> Base:
        """Where the trials begin: the saved model and its text, and the extra encoders."""
        base = from_checkpoint(saved)
        others = {run: checkpoint.load(run, base.learner.device) for run in self.extra_encoders}
        return with_others(base, saved.tokenizer, others)


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def with_others(base: Base, tokenizer: Tokenizer, saved: Mapping[str, Checkpoint]) -> Base:
    """The base with extra encoders, which must have the same vocabulary."""
    for run, other in saved.items():
        if other.tokenizer.words != tokenizer.words:
            raise UserError(f"The run {run} has another vocabulary than the base; train both on the same corpus.")
    return replace(base, extra_encoders=tuple(other.learner for other in saved.values()))
