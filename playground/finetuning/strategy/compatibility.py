"""Whether a model, a task and strategies suit each other, and the task's texts packed as the model reads them."""

from collections.abc import Callable, Sequence
from functools import partial

from playground.errors import Refusal
from playground.finetuning.data import prompting
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import packing_for
from playground.finetuning.data.task import Split, Task
from playground.finetuning.strategy.head import check_writing
from playground.finetuning.strategy.strategy import Strategy
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

Texts = Callable[[int, int, Split], Dataset]
"""From a number, a seed and a split to labelled texts."""


def texts_for(
    learner: TrainState, task: Task, chosen: Sequence[Strategy], tokenizer: Tokenizer, packing: str | None = None
) -> Texts:
    """The texts of a task for a model; a strategy that cannot be used for it is refused before anything is trained."""
    for strategy in chosen:
        check(learner, task, strategy)
        for given in strategy.given:
            given.check(learner, task, tokenizer)
        if strategy.prompt:
            prompting.check(learner.model, task, tokenizer)
        if strategy.others:
            strategy.others.load(task, tokenizer, learner.model.shape, packing)
    return partial(task.load, tokenizer, packing=packing_for(learner.model.shape, packing))


def check(learner: TrainState, task: Task, strategy: Strategy) -> None:
    """Refuse a strategy that cannot be used for a task."""
    strategy.head.levels(learner.model)
    if strategy.fresh in ("encoder", "decoder") and not learner.model.shape.decoder_layers:
        raise Refusal(
            f"{strategy.name} needs a model with an encoder and a decoder, and this one has one stack; take BART, or "
            "give the base a decoder (playground compare ... --decoder same)."
        )
    for term in (*strategy.penalties, *strategy.beside):
        term.check(learner, task)
    if task.answer.about != "written":
        return
    try:
        check_writing(learner.model, strategy.head)
    except Refusal as refused:
        raise Refusal(f"{strategy.name} does not suit the task {task.name!r}. {refused}") from refused
