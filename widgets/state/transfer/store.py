"""A comparison of strategies: what is chosen for it, the thread that runs it, and its result as files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import param
import torch

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning import Base, Strategy, Task, find_strategy, find_task
from playground.finetuning.comparing.budget_matching import MATCHES, RATES
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.continual import check, continual
from playground.finetuning.comparing.spec import ComparisonSpec, with_others
from playground.finetuning.data.input_format import INPUT_FORMATS, MAX_LENGTH
from playground.finetuning.data.task import UnknownWords
from playground.finetuning.report.page import Draw, Origin
from playground.finetuning.run.base import base_of, copied, in_words_of
from playground.finetuning.run.record import TrialRecord
from playground.finetuning.strategy.extra_features import OtherVectors
from playground.finetuning.strategy.parse import spell
from playground.finetuning.strategy.strategy import texts_for
from playground.folders import run_name
from playground.models import Architecture
from playground.tokenizing import Tokenizer
from playground.training import Session, checkpoint
from playground.training.checkpoint import Checkpoint
from playground.training.parallel.workers import spare
from playground.training.store.ready_made import named, weights_hash
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState
from widgets.state.base import AS_IT_IS, CHANGES, changed, corpus_info
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE, Quota
from widgets.state.stage.model import has_learned
from widgets.state.train.kept_runs import runs_folder
from widgets.state.transfer.result_files import ResultFiles, saved
from widgets.state.transfer.task_choice import OWN_FILE, TaskChoice
from widgets.state.transfer.trials import Steps, Trials
from widgets.state.uploads import ENCODINGS, LARGEST_LABELLED_FILE, NO_COLUMN, Uploads

LOOKS, FEWER_LOOKS = 10, 4  # evaluations of a trial on its way, and with several numbers of labelled texts

MOST_STRATEGIES = 12

SHOWN_FIRST = ("random start", "feature-based", "full", "adapters")
"""What a visit begins with: the control, nothing changes, everything changes, a little is added."""


class TransferStore(param.Parameterized):
    """A comparison of strategies and how far it is; `runs` is the folder of the runs that are kept.

    With several `workers` trials run side by side in processes, and each is seen as a whole when it is done.
    """

    base = param.String("", label="trained model")
    task = param.String("sentiment", label="fine-tune on")
    then = param.List([], label="then fine-tune on")
    before = param.Selector(default=AS_IT_IS, objects=list(CHANGES), label="base modification")
    extra_encoders = param.List([], label="extra feature extractors")
    own_file = param.Parameter(None)
    text_column = param.String("", label="column with the text")
    second_column = param.String("", label="column with the second text")
    label_column = param.String("", label="column with the label")
    encoding = param.Selector(default="", objects=ENCODINGS, label="encoding")
    input_format = param.Selector(
        default="", objects={"as suits the model": "", **{name: name for name in INPUT_FORMATS}}, label="input format"
    )
    max_length = param.Integer(0, bounds=(0, MAX_LENGTH.high), label="maximum tokens per row (0: all)")
    chosen = param.List([], doc="The names of the strategies that are compared; the first is the baseline.")
    own = param.Dict({}, doc="The strategies that a person made on this visit.")
    train_size = param.Integer(64, label="labelled texts")
    other_sizes = param.List([], label="also compare with")
    seeds = param.Integer(ComparisonSpec.seeds, bounds=(1, 12), label="seeds")
    steps = param.Integer(80, bounds=(1, 300), softbounds=(20, 300), step=10, label="steps")
    match = param.Selector(default="steps", objects=list(MATCHES), label="match the budget by")
    lr_policy = param.Selector(default="own", objects=list(RATES), label="learning rates")
    shape = param.Parameter(Architecture(), doc="The architecture of the base.")
    workers = param.Integer(1, label="execution")
    trouble = param.String("", doc="Why nothing can be compared.")
    notice = param.String("", doc="What was made of the choices.")
    unknown_words = param.Boolean(False, doc="Whether the base knows too few words of the task.")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**{"chosen": list(SHOWN_FIRST), **values})
        self.runs = Runs(runs or runs_folder())
        self.quota: Quota = ALONE
        self.running = Job("comparison")
        self.trials, self.uploads = Trials(ComparisonSpec(), (), "", {}), Uploads()
        self._origin: Origin | None = None
        self._checkpoints: dict[str, bytes] = {}
        self._made: tuple[tuple[Any, ...], Any, Any] | None = None
        self._choice = TaskChoice()
        self._record, self._shared = TrialRecord(), ()
        self._steps: Steps = {}

    @property
    def power(self) -> str:
        """What the seeds can find, in words."""
        lines, sizes = tuple(self.chosen), (self.train_size, *self.other_sizes)
        return ComparisonSpec(strategies=lines, train_sizes=sizes, seeds=self.seeds, then=tuple(self.then)).power

    def strategy(self, name: str) -> Strategy:
        """A strategy of this visit or of the catalogue."""
        return self.own.get(name) or find_strategy(name)

    def keep(self, strategy: Strategy) -> None:
        """Put a strategy that a person made among the others and choose it."""
        self.own = {**self.own, strategy.name: strategy}
        self.chosen = list(dict.fromkeys([*self.chosen, strategy.name]))

    # the task

    @as_trouble
    def upload(self, name: str, content: bytes) -> None:
        """Keep an uploaded labelled file; its columns are guessed."""
        paths = self.uploads.keep([(name, content)], min(LARGEST_LABELLED_FILE, self.quota.upload))
        self._choice = TaskChoice()  # a new file may have the name of an old one
        self.param.update(own_file=paths[0], text_column="", second_column="", label_column="", encoding="")

    @property
    def task_choice(self) -> TaskChoice:
        """The task that is chosen; a file is read once for its columns."""
        second = "" if self.second_column == NO_COLUMN else self.second_column or None
        file = self.own_file if self.task == OWN_FILE else None
        choice = TaskChoice(self.task, file, self.text_column, self.label_column, second, self.encoding)
        if choice != self._choice:
            self._choice = choice
        return self._choice

    @property
    def reads_others(self) -> bool:
        """Whether a chosen strategy reads the vectors of other runs."""
        return any(
            isinstance(given, OtherVectors) for name in self.chosen for given in self.strategy(name).extra_features
        )

    # the comparison

    def begin(self, session: Session | None) -> bool:
        """Start comparing from the model of a session; False, with the reason in `trouble`, where that cannot be."""
        self.unknown_words, going = False, session is not None and session.state == "running"
        try:
            base, tokenizer = base_of_session(session)
            chosen, tasks = self._asked_for(base)
            others = self._others(base.learner.device)
            sizes, notice = self._sizes_there_are(tasks)
            if self.before == AS_IT_IS:
                left_out = self._check(with_others(base, tokenizer, others), tokenizer, chosen, tasks, sizes[0])
                notice = f"{notice} {left_out}".strip()
        except UserError as refusal:
            if session is not None and going:
                session.start()  # it was paused to be read
            self._refuse(refusal)
            return False
        assert session is not None
        self.end()
        self.param.update(trouble="", notice=notice)
        learner, in_turn = base.learner, len(tasks) > 1
        asked = ComparisonSpec(
            "base", tasks[0].name, tuple(map(spell, chosen)), sizes[:1] if in_turn else tuple(sorted(set(sizes))),
            self.seeds, 0, self.steps, "steps" if in_turn else self.match, self.lr_policy,
            1 if in_turn or self.quota.shared else min(self.workers, spare(0)), input_format=self.input_format or None,
            then=tuple(task.name for task in tasks[1:]), extra_encoders=tuple(others),
            max_length=self.max_length or None,
        )  # fmt: skip
        self._remember(asked, id(session), learner.step, self.before, self.own_file)
        change = "" if self.before == AS_IT_IS else f", {self.before}"
        made = f", ready-made checkpoint {ready}" if (ready := named(learner)) else ""
        name = f"{learner.entry.title} after {learner.step} steps on {session.run.corpus.name}{made}{change}"
        trials = self.trials = Trials(asked, tasks, name, self._steps, learner.entry.unit())
        trials.own_file, trials.state = self.task_choice.file, "running"
        events = self._events(session, base, tokenizer, chosen, tasks, others)
        self.running.begin(lambda report: self._work(trials, events, report))
        return True

    def _remember(self, asked: ComparisonSpec, *start: Any) -> None:
        """Finished trials are not run again, as long as all is the same but strategies, labelled texts and seeds."""
        first = () if self.match == "steps" else asked.strategies[:1]  # what the others are matched with
        shared = (*start, replace(asked, strategies=first, train_sizes=(), seeds=1, workers=1))
        if shared != self._shared:
            self._record, self._shared, self._steps = TrialRecord(), shared, {}

    def _asked_for(self, base: Base) -> tuple[list[Strategy], list[Task]]:
        """The strategies and the tasks, or a refusal of what no comparison can be made of."""
        chosen = [self.strategy(name) for name in self.chosen]
        if not chosen:
            raise UserError("No strategy is chosen; choose at least one.")
        if len(chosen) > MOST_STRATEGIES:
            raise UserError(f"{len(chosen)} strategies are chosen; compare at most {MOST_STRATEGIES} at once.")
        for strategy in chosen:  # cells painted for more steps than there are now
            strategy.plan(strategy.rows(base.learner.model.shape), self.steps)
        tasks = [self.task_choice.known, *map(find_task, self.then)]
        if self.then:
            check(tasks, chosen)
            if self.lr_policy == "tuned":
                raise UserError("Tuned rates are not available for a sequence of tasks; choose other rates.")
        return chosen, tasks

    def _sizes_there_are(self, tasks: Sequence[Task]) -> tuple[tuple[int, ...], str]:
        """The numbers of labelled texts, the main one first, no more than a file has, and what was made of them."""
        asked = (self.train_size, *self.other_sizes)
        small = min((t for t in tasks if t.examples is not None), key=lambda task: task.examples or 0, default=None)
        if small is None or small.examples is None or max(asked) <= small.examples:
            return asked, ""
        most = small.examples
        sizes = (min(self.train_size, most), *(size for size in self.other_sizes if size <= most))
        left_out = [size for size in asked if size > most]
        return sizes, (
            f"{small.name} has {most:,} texts to learn from and {small.tests:,} to be tested on, so "
            f"{_listed(sorted(set(sizes)), 'and')} labelled texts are used, not {_listed(left_out, 'or')}."
        )

    def _refuse(self, refusal: UserError) -> None:
        self.param.update(trouble=str(refusal), notice="", unknown_words=isinstance(refusal, UnknownWords))

    def _others(self, device: torch.device) -> dict[str, Checkpoint]:
        """The runs whose vectors are read beside those of the base, by their folders in the archive of the result."""
        return {
            f"beside/{name}": self.runs.load(name, device=device) for name in self.extra_encoders if self.reads_others
        }

    def _check(
        self, base: Base, tokenizer: Any, chosen: Sequence[Strategy], tasks: Sequence[Task], train_size: int
    ) -> str:
        """Refuse what cannot be read; what is left out of the texts."""
        rows = {"input_format": self.input_format or None, "max_length": self.max_length or None}
        texts = [texts_for(base.learner, task, chosen, tokenizer, **rows) for task in tasks]
        return " ".join(line for load in texts for line in load(train_size, 0, "train").notices)

    def _events(
        self, session: Session, base: Base, tokenizer: Any, chosen: list[Strategy], tasks: Sequence[Task],
        others: Mapping[str, Checkpoint],
    ) -> Iterator[Any]:  # fmt: skip
        asked = self.trials.asked
        base, tokenizer = yield from self._changed(session, base, tokenizer)
        base = with_others(base, tokenizer, others)
        self._check(base, tokenizer, chosen, tasks, asked.train_sizes[-1])
        corpus = session.run.corpus
        info = corpus_info(corpus, base)
        self._origin = Origin.of(base.learner, corpus.name, corpus.hash)
        self._checkpoints = {"base": saved(base.learner, tokenizer, info)}
        self._checkpoints |= {name: saved(one.learner, one.tokenizer, one.corpus) for name, one in others.items()}
        self._say_where(session, base.learner, others)
        if asked.then:
            yield from continual(base, tokenizer, asked, tasks=tasks, chosen=chosen)
        else:
            looks = LOOKS if len(asked.train_sizes) == 1 else FEWER_LOOKS
            how = {"task": tasks[0], "chosen": chosen, "looks": looks, "record": self._record}
            yield from compare(base, tokenizer, asked, **how)

    def _say_where(self, session: Session, learner: TrainState, others: Mapping[str, Checkpoint]) -> None:
        """Name the base as the command line finds it: a kept run that has these weights, else the archive's folder."""
        trials, out = self.trials, session.run.out
        if self.quota.shared or out is None or not _is_kept(session, learner, out):
            trials.where = "Unpack 'All, with the model' and run the command there: base is the folder with the model."
            return
        extra = [run_name(Path(self.runs.find(name).out or name)) for name in self.extra_encoders if others]
        trials.typed = replace(trials.asked, base=run_name(out), extra_encoders=tuple(extra))
        trials.where = f"The run {out.name} is saved in {out.parent}."
        if trials.own_file is not None:
            trials.where += f" Run the command in the folder with your file {trials.own_file.name}."

    def _changed(self, session: Session, base: Base, tokenizer: Any) -> Iterator[Any]:
        """The base as it is to be; what was made of a resting model is kept for the next comparison."""
        made_of = (id(session), base.learner.step, self.before)
        if self.before == AS_IT_IS:
            return base, tokenizer
        if self._made is None or self._made[0] != made_of:
            learner, words = yield from changed(base, tokenizer, self.before)
            self._made = made_of, learner.learner, words
        _, learner, words = self._made
        text = partial(in_words_of, words)
        return Base(learner, text(base.held_out), lambda: text(base.rehearse())), words

    def end(self) -> None:
        """Stop the comparison that is running, if any."""
        if self.trials.state == "running":
            self.trials.state = "stopped"
        self.running.end()
        self.running.wait(5.0)

    def _work(self, trials: Trials, events: Iterator[Any], report: Progress) -> None:
        try:
            for event in events:
                trials.add(event)
                report(trials.finished, trials.number)
            trials.state = "done"
        except UserError as refusal:
            if trials.state == "running":  # else it was stopped
                self._refuse(refusal)
        finally:
            trials.state = "failed" if trials.state == "running" else trials.state

    def files(self, draw: Draw) -> ResultFiles:
        """The result as files, with what draws its figure."""
        return ResultFiles(self.trials, self._origin, self._checkpoints, draw)


def _listed(counts: Sequence[int], last: str) -> str:
    *others, final = map(str, counts)
    return f" {last} ".join(filter(None, (", ".join(others), final)))


def _is_kept(session: Session, learner: TrainState, out: Path) -> bool:
    """Whether the folder of a run that is over has the very weights of a learner."""
    if session.state in ("running", "paused"):
        return False
    try:
        return weights_hash(checkpoint.load(out).learner) == weights_hash(learner)
    except UserError:
        return False


def base_of_session(session: Session | None) -> tuple[Base, Tokenizer]:
    """A copy of a session's model as a base, and its tokenizer; a run that goes on is paused first."""
    if session is None or session.learner is None or not has_learned(session.learner, session.run.corpus):
        raise UserError("There is no trained model yet; train one on the Train page, or press 'Train one here'.")
    if session.state == "running":
        session.rest()
    return base_of(copied(session.learner), session.run.corpus), session.run.corpus.tokenizer
