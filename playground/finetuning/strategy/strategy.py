"""A fine-tuning strategy: what may change when and how fast, what holds the weights back, what is added or read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Literal

import torch
from torch import Tensor

from playground.catalog import year
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import InputFormat, format_for
from playground.finetuning.data.prompting import Prompt, describe_left_out
from playground.finetuning.data.task import Split, Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.after import After
from playground.finetuning.strategy.extra_features import ExtraFeatures
from playground.finetuning.strategy.head import TOP, Head, check_writing
from playground.finetuning.strategy.losses import AuxLoss
from playground.finetuning.strategy.multitask import OtherTasks, SampledTasks
from playground.finetuning.strategy.plasticity import PaintedCell, Plasticity, everything, paint
from playground.finetuning.strategy.task_losses import TaskLoss
from playground.models import Architecture
from playground.models.adapters import AdapterKind
from playground.models.groups import layer_groups
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

OTHER = "other heads"
"""The row of the plan for the heads of other tasks."""


def is_bias(name: str) -> bool:
    """Whether a parameter is a bias by its name, such as `fc1.bias`, `bias_hh_l0` or `content_bias`."""
    return "bias" in name.rpartition(".")[2]


def is_norm(name: str) -> bool:
    """Whether a parameter is the weight or the bias of a norm by its name, such as `ln_1.weight`."""
    return name.split(".")[-2].endswith(("ln", "ln_1", "ln_2", "ln_f", "ln_embedding", "ln_cross_attn"))


STANDS_APART = {"biases": is_bias, "norms": is_norm}
"""What may have a row of its own in the plan, by its name."""

FAMILIES = {
    "control": "nothing is transferred: the control that every benefit is compared with",
    "features": "the model is frozen, and a head reads its states",
    "full": "everything may change from the first step",
    "parts taken over": "some of the pre-trained model, the rest new or frozen",
    "added parts": "few weights are added or changed, the rest of the model is frozen",
    "unfreezing": "layers learn one after another, or only the upper ones",
    "rates": "how fast each layer learns, and when",
    "penalties and replay": "a penalty or replay protects what was learned before",
    "further training": "another step comes between pre-training and the task",
    "several tasks": "other tasks are learned too",
    "own teacher": "the model is its own teacher or ensemble: a mean of its weights, or a second pass",
    "more texts": "unlabelled, changed or enriched texts are read too",
    "prompting": "the model is only prompted, nothing is trained",
}
"""The families of strategies, in the order in which a survey comes to them, each with what its members share."""


@dataclass(frozen=True)
class PublishedRate:
    """A learning rate that was used for a large model, and the public place where it stands."""

    rate: float
    where: str


@dataclass(frozen=True)
class Strategy:
    """A plasticity plan, penalties and extra modules; `rate * plan[g, s]` is a learning rate, and 0 is truly frozen.

    `waiting` is the plan of the steps in which the task waits for the old question, `plasticity` that of the rest.
    `penalties` hold the weights back and are 0 at the start; `aux_losses` are further losses in the same steps;
    `task_loss` takes the task's own in another form; `adapters` are new modules, which learn when the head does;
    `extra_features` are further inputs of the model or the head. `head` says what the task's head reads, `fresh` which
    part of the model is initialised again, `own_row` which parameters of a group form a row of their own in the plan,
    `after` is a rule on the weights at the end of the run, `painted` are cells of the plan edited by hand, and
    `made_of` names the strategies that were put together. `rate` is ours: it suits these tiny models and short runs.
    `published` is what the authors used for a large one, None where no place that we could read states it.
    With a `prompt` nothing learns: the model is asked untrained.
    """

    name: str
    idea: str
    source: str
    plasticity: Plasticity
    rate: float = 4e-3
    published: PublishedRate | None = None
    aliases: tuple[str, ...] = ()
    family: str = ""
    penalties: tuple[AuxLoss, ...] = ()
    aux_losses: tuple[AuxLoss, ...] = ()
    waiting: Plasticity = everything
    task_loss: TaskLoss | None = None
    adapters: tuple[AdapterKind, ...] = ()
    extra_features: tuple[ExtraFeatures, ...] = ()
    head: Head = TOP
    fresh: Literal["", "encoder", "decoder", "layers", "everything"] = ""
    own_row: Literal["", "biases", "norms"] = ""
    after: After | None = None
    painted: tuple[PaintedCell, ...] = ()
    made_of: tuple[str, ...] = ()
    prompt: Prompt | None = None

    @property
    def order(self) -> tuple[int, bool, int]:
        """Its place in lists: by family; what the survey itself describes first, then by the year of the source."""
        family = list(FAMILIES).index(self.family) if self.family else len(FAMILIES)
        return (family, not self.source.startswith("survey"), year(self.source))

    @property
    def parts(self) -> tuple[str, ...]:
        """The strategies of the catalogue that it is made of, itself if it is one of them."""
        return self.made_of or (self.name,)

    @property
    def rehearses(self) -> bool:
        return any(term.rehearses for term in (*self.penalties, *self.aux_losses, *self.extra_features))

    @property
    def others(self) -> OtherTasks | None:
        return next((term for term in self.aux_losses if isinstance(term, OtherTasks)), None)

    @property
    def new(self) -> tuple[str, ...]:
        """The rows of its plan for what is added to the model, without the task's head."""
        return (*self._added, *([OTHER] if self.others else []))

    @property
    def _added(self) -> dict[str, float]:
        """The rows of the extra modules, with the times of the head's rate at which they learn."""
        return {row: times for extra in self.adapters for row, times in extra.rates.items()}

    def waits(self, steps: int) -> int:
        """In how many of the first steps the task's own loss is left out, so that its head cannot learn."""
        return max((term.alone(steps) for term in self.aux_losses), default=0)

    def plan(self, groups: Sequence[str], steps: int) -> Tensor:
        """The multipliers `[g, s]`, evaluated once; the optimiser reads its columns and the heat map draws them.

        While the task waits its head does not learn, and the plasticity begins behind that.
        """
        old = [k for k, group in enumerate(groups) if group not in self.new]
        rows, waits = [groups[k] for k in old], self.waits(steps)
        waiting = torch.cat([self.waiting(rows[:-1], waits), torch.zeros(1, waits)])
        plan = torch.cat([waiting, self.plasticity(rows, steps - waits)], dim=1)
        assert plan.shape == (len(old), steps), f"{self.name} plans {tuple(plan.shape)}"
        whole = plan[-1].repeat(len(groups), 1)
        whole[old] = plan
        for row, times in self._added.items():
            whole[[k for k, group in enumerate(groups) if group == row]] *= times
        if self.others and OTHER in groups:  # they learn whenever they are read and anything learns
            read = torch.arange(steps) < self.others.reading(steps)
            whole[list(groups).index(OTHER)] = plan.amax(dim=0) * read
        return paint(whole, groups, self.painted)

    def rows(self, shape: Architecture) -> tuple[str, ...]:
        """The layer groups of its plan for a transformer, lowest first.

        What is apart is in the layers, and in the embeddings where these have a norm.
        """
        body = [f"encoder layer {k + 1}" for k in range(shape.layers)]
        parted = {*body, *(["embeddings"] if shape.embedding_norm else [])} if self.own_row else set[str]()
        both = [(row, *([f"{row} {self.own_row}"] if row in parted else [])) for row in ("embeddings", *body)]
        return (*chain.from_iterable(both), *self.new, "task head")

    def check(self, learner: TrainState, task: Task) -> None:
        """Refuse a model or a task that it cannot be used for."""
        highest = max(self.head.levels(learner.model))
        if self.adapters and highest < min(learner.model.shape.layers, learner.model.top_hidden_state):
            raise UserError(
                f"The head of {self.name} reads level {highest}, so what {self.adapters[0].name} would add to the "
                "layers above it is not read. Choose a head that reads the top, or leave one of them out."
            )
        if self.fresh in ("encoder", "decoder") and not learner.model.shape.decoder_layers:
            raise UserError(
                f"{self.name} needs a model with an encoder and a decoder, and this one has one stack. Choose BART, or "
                "give the base a decoder (playground compare ... --decoder same)."
            )
        groups = layer_groups(learner.model).items()
        body = (name for group, names in groups if group.startswith(("embeddings", "encoder")) for name in names)
        if self.own_row and not any(map(STANDS_APART[self.own_row], body)):
            raise UserError(
                f"{self.name} trains the {self.own_row} of a model, and {learner.entry.name} has none. Choose another "
                f"strategy, or a base with {self.own_row}, such as BERT."
            )
        for term in (*self.penalties, *self.aux_losses):
            term.check(learner, task)
        if self.task_loss is not None:
            self.task_loss.check(learner, task)
        if task.answer.about == "written":
            try:
                check_writing(learner.model, self.head)
            except UserError as refused:
                raise UserError(f"{self.name} does not suit the task {task.name!r}. {refused}") from refused

    def notices(self, base: Base, train: Dataset, test: Dataset, input_format: InputFormat) -> tuple[str, ...]:
        """Sentences on what does not stand in its prompts and what is lacking among the texts that it reads too."""
        lines = [line for term in (*self.penalties, *self.aux_losses) for line in term.notices(base, input_format)]
        lines += [
            line for given in self.extra_features for texts in (train, test) for line in given.notices(base, texts)
        ]
        if isinstance(self.others, SampledTasks):
            share = float(self.others.rates_for(train, base, input_format)[0])
            lines.append(f"The task itself is learned in about {share:.0%} of the steps, other tasks in the rest.")
        if self.prompt:
            lines += describe_left_out(base.learner.model, self.prompt, test.answer.prompts(self.prompt, train, test))
        return tuple(f"{self.name}: {line}" for line in lines)

    def paint(self, *cells: PaintedCell) -> "Strategy":
        """The same strategy with some cells of its plan painted over."""
        if self.prompt:
            raise UserError(f"{self.name} trains nothing, so there is no plan to paint.")
        name = self.name if self.painted else f"{self.name} (painted)"
        return replace(self, name=name, painted=(*self.painted, *cells), made_of=self.parts)


Texts = Callable[[int, int, Split], Dataset]
"""From a number, a seed and a split to labelled texts."""


def texts_for(
    learner: TrainState,
    task: Task,
    chosen: Sequence[Strategy],
    tokenizer: Tokenizer,
    input_format: str | None = None,
    max_length: int | None = None,
) -> Texts:
    """The texts of a task for a model; a strategy that cannot be used for it is refused before anything is trained."""
    suited = format_for(learner.model.shape, input_format, max_length)
    for strategy in chosen:
        strategy.check(learner, task)
        for given in strategy.extra_features:
            given.check(learner, task, tokenizer)
        if strategy.prompt:
            task.check_prompt(learner.model, tokenizer)
        if strategy.others:
            strategy.others.load(task, tokenizer, suited)
    return partial(task.load, tokenizer, input_format=suited)
