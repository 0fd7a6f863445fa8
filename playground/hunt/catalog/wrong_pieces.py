"""Whole-word masks that look for the mark of another tokenizer."""

from dataclasses import dataclass

import torch

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.choose import ChooseWholeUnits
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans
from playground.zoo import Entry


@dataclass(frozen=True)
class ChooseMarkedPieces(ChooseWholeUnits):
    """Mark whole words, where a piece continues a word if it begins with ##, as only WordPiece writes it."""

    def units(self, batch: Batch) -> MarkedSpans:
        """The units of each text by the marks of its pieces."""
        continues = torch.tensor([piece.startswith("##") for piece in batch.tokens.vocabulary])
        return marked_spans(batch, batch.maskable, (~continues[batch.tokens.ids]).cumsum(1))


def for_wordpiece(entry: Entry) -> Entry:
    """The same objective, which finds words by the marks of WordPiece."""
    return exchange_stage(entry, ChooseWholeUnits, lambda stage: ChooseMarkedPieces(**vars(stage)))


def partly_masked(suspect: Suspect) -> float:
    """The share of the masked words of which some pieces stay visible."""
    batch = suspect.batch(64)
    words = marked_spans(batch, batch.maskable, batch.tokens.word_ids)
    masked = torch.zeros_like(words.length).scatter_add(1, words.of.clamp(min=0), batch.selected.to(words.length.dtype))
    return float((masked < words.length)[masked > 0].float().mean())


WRONG_PIECES = Fault(
    name="whole-word masks with the marks of another tokenizer",
    group="Objective",
    symptom="In many masked words some pieces can still be read.",
    explanation="The mask looks for pieces that begin with ##. This tokenizer marks the first piece of a word instead, "
    "so each piece passes for a word. The tokenizer itself must say which pieces belong together.",
    repository="huggingface/transformers",
    thread="https://github.com/huggingface/transformers/issues/11768",
    law="All pieces of a word are masked, or none is.",
    shows="the share of masked words that are masked in part",
    figure=partly_masked,
    holds=lambda suspect: partly_masked(suspect) == 0,
    change_entry=for_wordpiece,
    entry="whole word masking",
    corpus="reviews(tokenizer=bytes, vocab_size=400)",
    steps=100,
)
