"""`playground edit`: give a sentence another label by filling a few of its words anew."""

import argparse
import os
from dataclasses import dataclass

import torch

from playground.cli.options import Parser, common_options, number_of, say
from playground.cli.prepare import open_task
from playground.errors import UserError
from playground.finetuning.apply.text_editing import Edited, Success, class_named, editor, success
from playground.finetuning.run.base import from_checkpoint
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.folders import run_folder
from playground.tokenizing.words import split_words
from playground.training import checkpoint


@dataclass(frozen=True)
class EditFacts(Edited):
    """A sentence that was edited for another label."""

    task: str
    success: Success


FACTS = (EditFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, edit)
    option = command.add_argument
    option("base", type=run_folder, metavar="RUN", help="a run, by its name or folder, that fills gaps, such as BERT's")
    option("--text", required=True, help="the sentence")
    option("--to", required=True, metavar="LABEL", help="target label, such as good")
    option(
        "--task",
        default="sentiment",
        metavar="TASK|FILE",
        help="the task whose labelled texts train editor and classifier",
    )
    option(
        "--train-size", type=number_of("texts"), default=256, metavar="N",
        help="labelled texts to learn from",
    )  # fmt: skip
    option(
        "--tuning-steps", type=number_of("steps"), default=120, metavar="N", help="training steps of each classifier"
    )
    option("--tests", type=number_of("texts"), default=50, metavar="N", help="unseen texts that are edited too")


def edit(given: argparse.Namespace) -> int:
    """Train classifiers and writer, edit the sentence, and print how often that works."""
    torch.set_num_threads(1)
    if not os.path.exists(given.base):
        raise UserError(f"There is no run in {given.base}; train one: playground train BERT --out {given.base}.")
    saved, task = checkpoint.load(given.base), open_task(given.task)
    check_classes("Edits", task)
    class_named(task.answer.classes, given.to)  # before anything is trained
    base = from_checkpoint(saved)
    made = editor(base, saved.tokenizer, task, given.train_size, given.tuning_steps, given.seed)
    one, rate = made.edit(split_words(given.text), given.to), success(made, task, given.tests)
    lines = [
        f"before: {one.before}",
        f"after:  {one.after}",
        f"{one.target_label}: {one.chance_before:.0%} before, {one.chance_after:.0%} after, "
        f"by an independent classifier; {one.kept:.0%} of the words kept",
        f"of {rate.texts} unseen texts {rate.turned:.0%} get the target label, with {rate.kept:.0%} of their words",
        *made.judge.task.train.notices,
    ]
    return say(given, EditFacts(**vars(one), task=task.name, success=rate), lines)
