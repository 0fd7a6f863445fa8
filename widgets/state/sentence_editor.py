"""A sentence that a person edits while a fine-tuned copy of the base predicts its label."""

from dataclasses import dataclass
from typing import Any

import param

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning import Base, Task
from playground.finetuning.apply.text_editing import Edited, Editor, Judge, Judgement, editor, judge
from playground.tokenizing import Tokenizer
from playground.tokenizing.words import split_words
from playground.training import Session
from widgets.state.job import Job, as_trouble
from widgets.state.transfer.store import base_of_session

LABELS, STEPS = 256, 120  # labelled texts and steps from which classifier and editor learn: those of `playground edit`
SAMPLES = 40  # unseen sentences that one can begin with
LONGEST = 300  # characters of a sentence


@dataclass(frozen=True)
class Taught:
    """The classifier of a task, what fills words again for another label, and why there is no such editor."""

    task: Task
    judge: Judge
    editor: Editor | None
    why_not: str = ""


class SentenceEditorStore(param.Parameterized):
    """The sentence as it is, the prediction with which it began, and the classifier."""

    text = param.String("", label="sentence")
    target_label = param.String("", label="target label")
    trouble = param.String("")
    begun = param.Parameter(None)
    edited = param.Parameter(None)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.teaching = Job("training of the classifier")
        self._next = 0

    @property
    def taught(self) -> Taught | None:
        """What was trained last, once that is done."""
        return self.teaching.result

    @as_trouble
    def teach(self, session: Session | None, task: Task) -> None:
        """Fine-tune a copy of the model for a task; why that cannot be is said in `trouble`."""
        base, tokenizer = base_of_session(session)
        self._next = 0
        self.param.update(text="", begun=None, edited=None)
        self.teaching.begin(lambda progress: _taught(base, tokenizer, task, progress))

    def take_sample(self) -> None:
        """Put an unseen sentence of the task in place of the one that is there."""
        if self.taught is None:
            return
        items = self.taught.task.items(SAMPLES, 0, "test")
        self.param.update(text=" ".join(items[self._next % len(items)].texts[0]), edited=None)
        self._next += 1
        self.begun = said = self.said
        if said is not None:
            self.target_label = next((name for name in said.chances if name != label_of(said)), "")

    @property
    def said(self) -> Judgement | None:
        """The prediction for the sentence as it is; nothing where there is none."""
        words = split_words(self.text[:LONGEST])
        return self.taught.judge.assess(words) if self.taught and words else None

    @as_trouble
    def let_it_edit(self) -> None:
        """Have the model turn the sentence to the target label; what it changed is in `edited`."""
        if self.taught is not None and self.taught.editor is not None:
            done: Edited = self.taught.editor.edit(split_words(self.text[:LONGEST]), self.target_label)
            self.param.update(edited=done, text=done.after)


def label_of(said: Judgement) -> str:
    """The likeliest label."""
    return max(said.chances, key=lambda name: said.chances[name])


def _taught(base: Base, tokenizer: Tokenizer, task: Task, progress: Progress) -> Taught:
    """A classifier for what is typed; where the model fills gaps, also an editor with a classifier of its own."""
    seen = judge(base, tokenizer, task, LABELS, STEPS, 1)
    progress(1, 3)
    try:
        return Taught(task, seen, editor(base, tokenizer, task, LABELS, STEPS, 0, seen))
    except UserError as refusal:
        return Taught(task, seen, None, str(refusal))
