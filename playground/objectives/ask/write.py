"""Ask a decoder to write: parts of the text, its translation, or an answer."""

from dataclasses import dataclass, replace

import torch

from playground.answers import Target, Word
from playground.batch import Batch, Stream, Tokens, arange_rows, gather_origin, language_ids_at, ones_view
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange.language import translation
from playground.objectives.ask.words import asked
from playground.objectives.change.markers import markers, sentinel
from playground.objectives.ops.ragged import Ragged, append, collect, extract_spans, length_mask, shift
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskDecoder(Ask):
    """A decoder writes the text, its missing parts, these parts behind sentinels, or the fragment in its own places.

    Sources: BART, arXiv:1910.13461; survey, Table 2; T5, arXiv:1910.10683; MASS, arXiv:1905.02450. The target ends with
    [END] as in the released codes (not MASS's, whose fragment lies in the middle of a text; the rows of the survey's
    table have none either). An empty target has no [END].
    """

    target: str = knob("text", choices=("text", "gaps", "sentinels", "fragment"), why="What the decoder must write.")
    add_eos: bool = knob(True, why="Close the target with [END], so that the model learns to stop.")
    final_sentinel: bool = knob(False, why="Close the parts with one more sentinel, as in the figure of T5's paper.")

    def build(self, batch: Batch) -> Batch:
        tokens = batch.tokens
        written = self.written(batch)
        if self.final_sentinel and self.target == "sentinels":
            number = batch.spans.is_span.sum(1, keepdim=True)
            written = append(written, sentinel(batch, number), tokens.specials.pad)
        if self.add_eos:
            written = append(written, tokens.specials.end, tokens.specials.pad, to_empty=False)
        decoder = shifted_targets(tokens, written)
        if self.target == "fragment":
            decoder = _at_text_positions(batch, written, decoder)
        return asked_to_write(batch, written, decoder, copying=self.target == "text")

    def written(self, batch: Batch) -> Ragged:
        """The decoder's targets `[b, n]` and their positions in the text."""
        if self.target == "sentinels":
            return extract_spans(batch, markers(batch, "sentinel"))
        return whole(batch.tokens) if self.target == "text" else collect(batch, batch.selected)


@dataclass(frozen=True)
class AskTranslation(Ask):
    """A decoder writes the second text while the encoder reads the first (CoVe, arXiv:1708.00107, sec. 3)."""

    add_eos: bool = knob(True, why="Close the translation with [END], so that the model learns to stop.")

    def build(self, batch: Batch) -> Batch:
        return _second_text(batch, translation(batch.tokens), self.add_eos)


@dataclass(frozen=True)
class AskAnswer(Ask):
    """A decoder writes the answer that belongs to the text, in words (T5, arXiv:1910.10683, sec. 2.4)."""

    add_eos: bool = knob(True, why="Close the answer with [END], so that the model learns to stop.")

    def build(self, batch: Batch) -> Batch:
        if "next" not in batch.tokens.neighbours:
            raise UserError("This objective needs an answer as well as a text; this corpus or text has none.")
        return _second_text(batch, batch.tokens.neighbours["next"], self.add_eos)


def _second_text(batch: Batch, second: Tokens, end: bool) -> Batch:
    """The batch with a decoder that writes another text."""
    written = whole(second)
    if end:
        written = append(written, second.specials.end, second.specials.pad)
    written = replace(written, origin=torch.full_like(written.ids, -1))
    decoder = shifted_targets(second, written)
    if "language" in second.labels:
        language = torch.nn.functional.pad(second.labels["language"], (0, 1))  # an empty text has language 0
        language = language.amax(1, keepdim=True).clamp(min=0)
        decoder = replace(decoder, language_ids=language.expand(written.ids.shape))
    return asked_to_write(batch, written, decoder, copying=False)


def whole(tokens: Tokens) -> Ragged:
    """A text as it stands, without the columns that are padding in every row."""
    if not tokens.padded:
        return Ragged(tokens.ids, arange_rows(tokens.ids), ones_view(tokens.ids), padded=False)
    real, padded = length_mask(tokens.lengths)
    ids = tokens.ids[:, : real.shape[1]]
    if not padded:
        return Ragged(ids, arange_rows(ids), real, padded)
    return Ragged(ids.where(real, tokens.specials.pad), arange_rows(ids).where(real, -1), real)


def shifted_targets(tokens: Tokens, written: Ragged) -> Stream:
    """The decoder's input: [START] and all targets but the last."""
    ids, real, padded = shift(written.ids, tokens.specials.start), written.real, written.padded
    ids = ids.where(real, tokens.specials.pad) if padded else ids
    return Ragged(ids, shift(written.origin, -1).where(real, -1), real, padded).stream(tokens)


def asked_to_write(batch: Batch, written: Ragged, decoder: Stream, copying: bool) -> Batch:
    """The batch with a decoder and the target for what it writes."""
    targets = (written.ids, written.real, written.origin)
    target = Target("written words", Word(), "decoder", *targets, copying=copying)
    return asked(replace(batch, decoder=decoder), target)


def _at_text_positions(batch: Batch, written: Ragged, decoder: Stream) -> Stream:
    """MASS: the decoder starts from the visible word before the fragment and keeps the positions of the text.

    Each word is written from the position before its own. Where the fragment begins the text there is none: [START]
    takes the first one, and all that follow are one further on.
    """
    tokens = batch.tokens
    before = (written.origin - 1).where(written.origin >= 0, shift(written.origin, -1)).where(written.real, -1)
    ids = gather_origin(tokens.ids, before, tokens.specials.start).where(written.real, tokens.specials.pad)
    position = (before + (before[:, :1] < 0).long()).clamp(min=0)
    language = language_ids_at(tokens, before)
    return replace(decoder, ids=ids, origin=before, position_ids=position, language_ids=language)
