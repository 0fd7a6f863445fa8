"""Arrange the document of a row whose label is known, and a control code that names the label."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.batch import Batch, Tokens, arange_rows, begin
from playground.errors import UserError
from playground.objectives.arrange.text import ArrangeText
from playground.objectives.ops.ragged import first_special
from playground.objectives.stage import Arrange


@dataclass(frozen=True)
class ArrangeDocument(Arrange):
    """The first words of a row that share a value of a label, and no others: rows begin anywhere in a corpus.

    So what is read of a row is one text, of which the label is true. A row without the label is left as it is.
    """

    label: str

    def build(self, batch: Batch) -> Batch:
        tokens = batch.tokens
        return begin(crop(tokens, *labelled_stretch(tokens, self.label))) if tokens.ids.shape[1] else batch


@dataclass(frozen=True)
class WrapSpecials(Arrange):
    """The text between [CLS] and [SEP] where the first one stands for the whole text, so it cannot be left out."""

    def build(self, batch: Batch) -> Batch:
        return ArrangeText(add_special_tokens=True).build(batch)


@dataclass(frozen=True)
class ControlCode(Arrange):
    """A token for the label of the text replaces its first special token (CTRL, arXiv:1909.05858, sec. 3).

    The first word that has the label decides; number k of a label is shown as the k-th sentinel. A row without the
    label keeps its first special token.
    """

    label: str

    def build(self, batch: Batch) -> Batch:
        inputs, tokens = batch.inputs, batch.tokens
        if not tokens.ids.numel():
            return batch
        number, codes = first_label(tokens, self.label)[1], tokens.specials.sentinels
        if (highest := int(number.max())) >= len(codes):
            raise UserError(
                f"The label {self.label!r} has the number {highest} and there are {len(codes)} special tokens for it; "
                f"choose a label of at most {len(codes)} values."
            )
        code = torch.tensor(codes, device=inputs.ids.device)[number.clamp(min=0)]
        return replace(batch, inputs=replace(inputs, ids=code.where(first_special(inputs) & (number >= 0), inputs.ids)))


def first_label(tokens: Tokens, label: str) -> tuple[Tensor, Tensor]:
    """The position of the first word of each row that has a label, and the label, `[b, 1]` each; else 0 and -1."""
    numbers = tokens.labels[label].masked_fill(~tokens.valid, -1)
    first = (numbers >= 0).int().argmax(1, keepdim=True)
    return first, numbers.gather(1, first)


def labelled_stretch(tokens: Tokens, label: str) -> tuple[Tensor, Tensor]:
    """Where the text of each row begins that has the row's first label, and one after its last word, `[b, 1]` each."""
    first, number = first_label(tokens, label)
    position = arange_rows(tokens.ids)
    other = (position >= first) & (tokens.labels[label] != number) & (number >= 0)
    end = position.masked_fill(~other, position.shape[1]).amin(1, keepdim=True)
    return first, torch.minimum(end, tokens.lengths[:, None])


def crop(tokens: Tokens, first: Tensor, end: Tensor) -> Tokens:
    """The words of each row from the `first [b, 1]` on that come before the `end [b, 1]`, numbered from 0."""
    position = arange_rows(tokens.ids)
    source = (position + first).clamp(max=position.shape[1] - 1)
    real = position < end - first

    def part(values: Tensor, blank: int) -> Tensor:
        return values.gather(1, source).where(real, blank)

    word, sentence = (numbers - numbers.gather(1, first) for numbers in (tokens.word_ids, tokens.sentence_ids))
    return replace(
        tokens,
        ids=part(tokens.ids, tokens.specials.pad),
        lengths=(end - first)[:, 0],
        word_ids=part(word, 0),
        sentence_ids=part(sentence, 0),
        labels={name: part(row, -1) for name, row in tokens.labels.items()},
        padded=True,
    )
