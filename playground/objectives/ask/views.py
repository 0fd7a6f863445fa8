"""Ask for a label of every word: where it is known, and of four views that see a part of the text."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Batch, SoftTargets, Target, gather_origin
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskCrossView(Ask):
    """The label of each chosen word; of views, what is said of the whole text (arXiv:1809.08370, sec. 3.2).

    Forwards and backwards answer at the word itself; future answers one word before it is read, past one word after.
    Each view has a head of its own. A label that is none of `classes` is not asked. Views learn from the texts without
    labels, because a labelled one teaches the reader of the whole alone (sec. 2.1); or, by choice, from all.
    """

    label: str
    classes: tuple[str, ...]
    views: str = knob(
        "unlabelled texts", choices=("unlabelled texts", "all texts"), why="Which texts the views learn from."
    )
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much the views count beside the labels.")

    def build(self, example: Batch) -> Batch:
        if self.label not in example.tokens.labels:
            raise Refusal(f"This objective needs the label {self.label!r} of every word; this text does not have it.")
        *others, forwards, backwards = example.auxiliary
        known = example.selected if self.views == "unlabelled texts" else torch.zeros_like(example.selected)
        asked_of = example.maskable & ~known.any(1, keepdim=True)
        views = (
            self._asked(self._asked(forwards, "forwards", 0, asked_of), "future", 1, asked_of),
            self._asked(self._asked(backwards, "backwards", 0, asked_of), "past", -1, asked_of),
        )
        return asked(replace(example, auxiliary=(*others, *views)), self._primary(example))

    def _primary(self, example: Batch) -> Target:
        origin = example.inputs.origin
        label = gather_origin(example.tokens.labels[self.label], origin, -1)
        graded = gather_origin(example.selected, origin, False) & (label >= 0) & (label < len(self.classes))
        nowhere = torch.full_like(origin, -1)
        return self._question("label", f"label:{self.label}", label.where(graded, 0), graded, nowhere)

    def _asked(self, view: Batch, name: str, ahead: int, asked_of: Tensor) -> Batch:
        """A view with its question: the state at each place answers for the place `ahead` of it in reading order."""
        inputs, width = view.inputs, view.tokens.ids.shape[1]
        place = inputs.origin + ahead
        there = (inputs.origin >= 0) & (place >= 0) & (place < width)
        graded = gather_origin(asked_of, place.where(there, -1), False)
        unseen = place.where(graded, -1) if ahead else torch.full_like(place, -1)
        taught = SoftTargets(f"label:{self.label}", place.where(graded, 0))
        question = self._question(name, f"label:{self.label} {name}", torch.zeros_like(place), graded, unseen)
        return asked(view, replace(question, weight=self.weight, loss=taught))

    def _question(self, name: str, head: str, targets: Tensor, graded: Tensor, origin: Tensor) -> Target:
        return Target(name, head, "inputs", targets, graded, origin, classes=self.classes)
