"""Ask for a label: of a pair of texts, of tokens, of views that see a part of the text, or of what was replaced."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.answers import Label, Replaced, SoftTargets, Target
from playground.batch import Action, Batch, Stream, arange_rows, gather_origin
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.ops.marked_spans import marked_spans
from playground.objectives.ops.ragged import first_special
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskPair(Ask):
    """What became of the pair, at the first position (BERT, arXiv:1810.04805, sec. 3.1; ALBERT, sec. 3.1).

    `classes` names the outcomes of the arrange stage in their order, `label` another label of the pair. A pair with an
    empty half, or without a known outcome, is not scored. `apart` predicts from the first position of each text
    instead, with a head of its own; then both have one segment, because one encoder reads them alike (InferSent,
    arXiv:1705.02364, sec. 3.1).
    """

    classes: tuple[str, ...]
    label: str = "pair"
    apart: bool = False
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the loss of the words.")

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        position = arange_rows(inputs.ids)
        whole = torch.stack([((inputs.origin >= 0) & (inputs.segment_ids == half)).any(1) for half in (0, 1)]).all(0)
        label = batch.tokens.labels[self.label]
        outcome = label.amax(1, keepdim=True) if label.shape[1] else torch.zeros_like(inputs.ids[:, :1])
        scored = (position == 0) & whole[:, None] & (outcome >= 0) & (outcome < len(self.classes))
        targets = outcome.expand_as(inputs.ids).where(scored, 0)
        kind = Label(f"{self.label} apart" if self.apart else self.label, self.classes)
        reads = self._firsts(inputs, scored) if self.apart else None
        if self.apart:
            batch = replace(batch, inputs=replace(inputs, segment_ids=torch.zeros_like(inputs.segment_ids)))
        return asked(batch, _question(self.label, kind, targets, scored, self.weight, reads))

    def _firsts(self, inputs: Stream, scored: Tensor) -> Tensor:
        """The first position of either text, `[b, n, 2]`."""
        turn = ((inputs.segment_ids == 0) & inputs.valid).sum(1, keepdim=True).expand_as(inputs.ids)
        return torch.stack([torch.zeros_like(turn), turn], dim=2).masked_fill(~scored[..., None], 0)


@dataclass(frozen=True)
class AskLabel(Ask):
    """A label of the tokens, such as the part of speech, at their positions.

    `where` names the tokens: the "chosen" ones (SentiLR, arXiv:1911.02493; SenseBERT, arXiv:1908.05646), those in
    "mentions", or "everywhere"; a token without the label is not scored. "text" predicts a label that all words of a
    text share, at the special token in front (SentiLR). `classes` are the names of a common scheme; training puts
    those of its corpus in their place (`bind.with_label_names`).
    """

    label: str
    classes: tuple[str, ...]
    where: str = "chosen"
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the loss of the words.")

    def build(self, batch: Batch) -> Batch:
        scored, number = self._of_the_text(batch) if self.where == "text" else self._of_words(batch)
        kind = Label(self.label, self.classes)
        return asked(batch, _question(self.label, kind, number.where(scored, 0), scored, self.weight))

    def _of_words(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Which positions `[b, n]` are scored, and the label of their word."""
        inputs, tokens = batch.inputs, batch.tokens
        known = tokens.valid & (tokens.labels[self.label] >= 0)
        if self.where != "everywhere":
            known = known & (batch.selected if self.where == "chosen" else tokens.labels["mention"] >= 0)
        return gather_origin(known, inputs.origin, False), gather_origin(tokens.labels[self.label], inputs.origin)

    def _of_the_text(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The special token in front of each text with a known label, `[b, n]`, and the label."""
        inputs, labels = batch.inputs, batch.tokens.labels[self.label].masked_fill(~batch.tokens.valid, -1)
        number = labels.amax(1, keepdim=True) if labels.shape[1] else torch.full_like(inputs.ids[:, :1], -1)
        return first_special(inputs) & (number >= 0), number.expand_as(inputs.ids)


@dataclass(frozen=True)
class AskCrossView(Ask):
    """The label of each selected word; of views, what the model predicts from the whole text (arXiv:1809.08370, 3.2).

    The views forwards and backwards predict at the word itself; future one word before it is read, past one word after.
    Each view has a head of its own. A label that is none of `classes` is not scored. Views learn from the texts without
    labels, because a labelled one trains the main network alone (sec. 2.1); or, by choice, from all.
    """

    label: str
    classes: tuple[str, ...]
    views: str = knob(
        "unlabelled texts", choices=("unlabelled texts", "all texts"), why="Which texts the views learn from."
    )
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the loss of the labels.")

    def build(self, batch: Batch) -> Batch:
        if self.label not in batch.tokens.labels:
            raise UserError(f"This objective needs the label {self.label!r} of every word; this text does not have it.")
        *others, forwards, backwards = batch.auxiliary
        known = batch.selected if self.views == "unlabelled texts" else torch.zeros_like(batch.selected)
        asked_of = batch.maskable & ~known.any(1, keepdim=True)
        views = (
            self._asked(self._asked(forwards, "forwards", 0, asked_of), "future", 1, asked_of),
            self._asked(self._asked(backwards, "backwards", 0, asked_of), "past", -1, asked_of),
        )
        origin = batch.inputs.origin
        label = gather_origin(batch.tokens.labels[self.label], origin, -1)
        scored = gather_origin(batch.selected, origin, False) & (label >= 0) & (label < len(self.classes))
        target = _question("label", Label(self.label, self.classes), label.where(scored, 0), scored)
        return asked(replace(batch, auxiliary=(*others, *views)), target)

    def _asked(self, view: Batch, name: str, ahead: int, asked_of: Tensor) -> Batch:
        """A view with its target: each position predicts for the position `ahead` of it in reading order."""
        inputs, width = view.inputs, view.tokens.ids.shape[1]
        position = inputs.origin + ahead
        there = (inputs.origin >= 0) & (position >= 0) & (position < width)
        scored = gather_origin(asked_of, position.where(there, -1), False)
        taught = position.where(scored, 0)
        kind = SoftTargets(f"{self.label} {name}", self.classes, teacher=self.label, positions=taught)
        target = _question(name, kind, torch.zeros_like(position), scored, self.weight)
        return asked(view, replace(target, origin=position.where(scored, -1)) if ahead else target)


@dataclass(frozen=True)
class AskReplaced(Ask):
    """Original or replaced, everywhere; a sample equal to the original counts as original (ELECTRA, sec. 2).

    With "mentions" only names are scored, each at its first token (WKLM, arXiv:1912.09637, sec. 2).
    """

    where: str = "everywhere"
    weight: float = knob(50.0, 0.0, 100.0, unit="times the generator's loss", why="A yes-or-no loss is small.")

    def build(self, batch: Batch) -> Batch:
        replaced = (gather_origin(batch.actions, batch.inputs.origin) == Action.REPLACED).long()
        return asked(batch, _question("replaced?", Replaced(), replaced, self._scored(batch), self.weight))

    def _scored(self, batch: Batch) -> Tensor:
        if self.where == "everywhere":
            return batch.inputs.valid
        number = batch.tokens.labels["mention"]
        names = marked_spans(batch, batch.maskable & (number >= 0), number)
        return gather_origin((names.of >= 0) & (names.first == arange_rows(number)), batch.inputs.origin, False)


def _question(
    name: str, kind: Label | Replaced, targets: Tensor, scored: Tensor, weight: float = 1.0, reads: Tensor | None = None
) -> Target:
    """A target to the input's positions whose answer stands nowhere in the text."""
    nowhere = torch.full_like(targets, -1, dtype=torch.long)
    return Target(name, kind, "inputs", targets, scored, nowhere, weight, reads=reads)
