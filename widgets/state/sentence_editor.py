"""A sentence that a person edits while a fine-tuned copy of the base says how likely each of its labels is."""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import param

from playground.corpora.readers.decode import Progress
from playground.errors import Refusal
from playground.finetuning import Base, Task
from playground.finetuning.apply.text_editing import Edited, Editor, Judge, Said, editor, judge
from playground.finetuning.run.base import replace_model
from playground.tokenizing import Tokenizer
from playground.tokenizing.words import split_words
from playground.training import Session
from widgets.state.job import Work
from widgets.state.transfer import base_of

LABELS, STEPS = 256, 120
"""Labelled texts and steps from which a judge and a writer learn: those of `playground edit`."""

SAMPLES = 40
"""Unseen sentences that one can begin with."""

LONGEST = 300
"""Characters of a sentence."""


@dataclass(frozen=True)
class Taught:
    """Who says how likely a label is, who fills words anew for another one, and why nobody can where nobody does."""

    task: Task
    judge: Judge
    editor: Editor | None
    why_not: str = ""


class SentenceStore(param.Parameterized):
    """The sentence as it stands, with which label it began, and who judges it."""

    text = param.String("")
    wanted = param.String("")
    trouble = param.String("")
    begun = param.Parameter(None)
    edited = param.Parameter(None)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.teaching = Work("teaching of the judge")
        self._next = 0

    @property
    def taught(self) -> Taught | None:
        """Who was taught last, once that is done."""
        return self.teaching.result

    def teach(self, session: Session | None, task: Task) -> None:
        """Fine-tune a copy of the model for a task; why that cannot be is said in `trouble`."""
        try:
            base, tokenizer = base_of(session)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        base = replace(base, learner=replace_model(base.learner, deepcopy(base.learner.model)), memory={})
        self._next = 0
        self.param.update(trouble="", text="", begun=None, edited=None)
        self.teaching.begin(lambda progress: _taught(base, tokenizer, task, progress))

    def take_sample(self) -> None:
        """Put an unseen sentence of the task in place of what stands there."""
        if self.taught is None:
            return
        items = self.taught.task.items(SAMPLES, 0, "test")
        self.start(" ".join(items[self._next % len(items)].texts[0]))
        self._next += 1

    def start(self, text: str) -> None:
        """Begin with a sentence: what its label is now is what an edit can flip."""
        self.param.update(text=text, edited=None)
        self.begun = said = self.said
        if said is not None:
            self.wanted = next((name for name in said.chances if name != label_of(said)), "")

    @property
    def said(self) -> Said | None:
        """What the judge says of the sentence as it stands; nothing where there is none."""
        words = split_words(self.text[:LONGEST])
        return self.taught.judge.says(words) if self.taught and words else None

    def let_it_edit(self) -> None:
        """Have the model turn the sentence to the wanted label; what it changed is in `edited`."""
        made = self.taught.editor if self.taught else None
        if made is None:
            return
        try:
            done: Edited = made.edit(split_words(self.text[:LONGEST]), self.wanted)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        self.param.update(trouble="", edited=done, text=done.after)

    def end(self) -> None:
        """Stop what is being taught."""
        self.teaching.end()


def label_of(said: Said) -> str:
    """The likeliest label."""
    return max(said.chances, key=lambda name: said.chances[name])


def _taught(base: Base, tokenizer: Tokenizer, task: Task, progress: Progress) -> Taught:
    """One judge for what is typed; where the model fills gaps, also a writer with a judge of its own."""
    seen = judge(base, tokenizer, task, LABELS, STEPS, 1)
    progress(1, 3)
    try:
        return Taught(task, seen, editor(base, tokenizer, task, LABELS, STEPS, 0, seen))
    except Refusal as refusal:
        return Taught(task, seen, None, str(refusal))
