"""Ask for a label: of a pair of texts at its first sign, or of tokens."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Batch, Stream, Target, arange_rows, gather_origin
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.ops.ragged import first_sign
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskPair(Ask):
    """What became of the pair, asked once at the first position (BERT, arXiv:1810.04805, sec. 3.1; ALBERT, sec. 3.1).

    `classes` names the outcomes of the arrange stage in their order, `label` what is known of the pair under another
    name. A pair with an empty half, or of which nothing is known, asks nothing. `apart` answers from the first
    position of each text instead, by a head of its own; then both have one segment, for one reader reads them alike
    (InferSent, arXiv:1705.02364, sec. 3.1).
    """

    classes: tuple[str, ...]
    label: str = "pair"
    apart: bool = False
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much this label counts beside the words.")

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        place = arange_rows(inputs.ids)
        whole = torch.stack([((inputs.origin >= 0) & (inputs.segment_ids == half)).any(1) for half in (0, 1)]).all(0)
        label = example.tokens.labels[self.label]
        outcome = label.amax(1, keepdim=True) if label.shape[1] else torch.zeros_like(inputs.ids[:, :1])
        graded = (place == 0) & whole[:, None] & (outcome >= 0) & (outcome < len(self.classes))
        targets = outcome.expand_as(inputs.ids).where(graded, 0)
        nowhere = torch.full_like(inputs.ids, -1)
        head = f"label:{self.label} apart" if self.apart else f"label:{self.label}"
        question = Target(self.label, head, "inputs", targets, graded, nowhere, self.weight)
        reads = self._firsts(inputs, graded) if self.apart else None
        if self.apart:
            example = replace(example, inputs=replace(inputs, segment_ids=torch.zeros_like(inputs.segment_ids)))
        return asked(example, replace(question, classes=self.classes, reads=reads))

    def _firsts(self, inputs: Stream, graded: Tensor) -> Tensor:
        """The first position of either text, `[b, n, 2]`."""
        turn = ((inputs.segment_ids == 0) & inputs.valid).sum(1, keepdim=True).expand_as(inputs.ids)
        return torch.stack([torch.zeros_like(turn), turn], dim=2).masked_fill(~graded[..., None], 0)


@dataclass(frozen=True)
class AskLabel(Ask):
    """What the corpus knows of a token, such as its part of speech, asked at its own position.

    `where` says of which tokens: those "chosen" (SentiLR, arXiv:1911.02493; SenseBERT, arXiv:1908.05646), those in
    "mentions", or "everywhere"; a token without the label is not asked. "text" asks once, at the sign in front, for a
    label that all words of a text share (SentiLR). `classes` are the names of a common scheme; training puts those of
    its corpus in their place (`Objective.knowing`).
    """

    label: str
    classes: tuple[str, ...]
    where: str = "chosen"
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much this label counts beside the words.")

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        graded, number = self._of_the_text(example) if self.where == "text" else self._of_words(example)
        targets = number.where(graded, 0)
        nowhere = torch.full_like(inputs.origin, -1)
        head = f"label:{self.label}"
        question = Target(self.label, head, "inputs", targets, graded, nowhere, self.weight, classes=self.classes)
        return asked(example, question)

    def _of_words(self, example: Batch) -> tuple[Tensor, Tensor]:
        """Which positions `[b, n]` are asked for the label of their word, and its number."""
        inputs, tokens = example.inputs, example.tokens
        known = tokens.valid & (tokens.labels[self.label] >= 0)
        if self.where != "everywhere":
            known = known & (example.selected if self.where == "chosen" else tokens.labels["mention"] >= 0)
        return gather_origin(known, inputs.origin, False), gather_origin(tokens.labels[self.label], inputs.origin)

    def _of_the_text(self, example: Batch) -> tuple[Tensor, Tensor]:
        """The sign in front of each text of which the label is known, `[b, n]`, and its number."""
        inputs, labels = example.inputs, example.tokens.labels[self.label].masked_fill(~example.tokens.valid, -1)
        number = labels.amax(1, keepdim=True) if labels.shape[1] else torch.full_like(inputs.ids[:, :1], -1)
        first = first_sign(inputs)
        return first & (number >= 0), number.expand_as(inputs.ids)
