"""A model's probabilities for one word of each text, under the mask that it was trained with."""

from dataclasses import replace

import torch
from torch import Tensor

from playground.batch import Action, Batch, Tokens, arange_rows, begin
from playground.errors import UserError
from playground.models import LanguageModel
from playground.models.architecture import Architecture
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskDecoder, AskMasked, AskNext, AskQueryStream
from playground.objectives.see import SeeAllButSelf, SeeEncoderDecoder, SeeLeft, SeePermutation, SeeRight
from playground.tokenizing import Tokenizer, read_input
from playground.tokenizing.padding import pad_rows
from playground.tokenizing.text_input import MOST_CHARACTERS
from playground.tokenizing.words import clean, split_words

MASK = "[MASK]"
"""What a person writes for the word to be predicted."""


def texts(rows: list[list[str]], tokenizer: Tokenizer) -> Tokens:
    """Texts, given as words, as one padded batch `[b, t]`."""
    return pad_rows([tokenizer.encode_words(words) for words in rows], tokenizer.specials, tokenizer.words)


def unknown_beside_gap(text: str, tokenizer: Tokenizer) -> str:
    """Which words of a text with a gap are not in the vocabulary, in a sentence; empty where all are."""
    words = text.replace(MASK, " ")
    return read_input(words, tokenizer, MOST_CHARACTERS).notice if words.strip() else ""


def gap_of(text: str, tokenizer: Tokenizer) -> tuple[Tokens, Tensor]:
    """A text with one `[MASK]` as a batch of one row, and the position of the gap `[1]`; raises `UserError`."""
    before, *after = text.split(MASK)
    if len(after) != 1:
        raise UserError(f"{text[:60]!r} has {len(after)} gaps; write {MASK} once, for the word to be predicted.")
    left, right = (tokenizer.encode_words(split_words(clean(part))) for part in (before, *after))
    row = [*left, tokenizer.specials.mask, *right]
    return pad_rows([row], tokenizer.specials, tokenizer.words), torch.tensor([len(left)])


def with_gap(shape: Architecture, tokens: Tokens, positions: Tensor, hidden: Tensor | None = None) -> Batch:
    """Texts with one gap each at `positions` `[b]`; `hidden` `[b]` is another position that is not seen either.

    A model that reads from one side sees the words on that side of the gap (ELMo: its forward network), one with two
    streams all others, one with a decoder the masked text and the words written so far, every other the masked text.
    """
    if shape.kind == "static":
        raise UserError("Static vectors do not read a sentence, so they cannot fill a gap in one.")
    gap = arange_rows(tokens.ids) == positions[:, None]
    later = torch.zeros_like(gap) if hidden is None else arange_rows(tokens.ids) == hidden[:, None]
    whole = replace(begin(tokens), selected=gap)
    if shape.two_streams and shape.recurrent:
        return AskQueryStream().build(SeeAllButSelf().build(whole))
    if shape.two_streams:
        position, last = (
            arange_rows(tokens.ids),
            tokens.lengths[:, None],
        )  # the gap comes last, or last but a hidden word
        rank = position.where(~gap, last).where(~later, last + 1)
        ordered = replace(whole, selected=gap | later, prediction_order=rank)
        return _only(AskQueryStream().build(SeePermutation().build(ordered)), positions)
    if shape.attention == "left to right":
        return _only(AskNext().build(SeeLeft(shape.layer_window).build(ShiftRight().build(whole))), positions)
    if shape.attention == "right to left":
        return _only(
            AskNext("right").build(SeeRight(shape.layer_window).build(ShiftRight("right").build(whole))), positions
        )
    shown = replace(whole.inputs, ids=tokens.ids.masked_fill(gap | later, tokens.specials.mask))
    masked = replace(whole, inputs=shown, actions=(gap | later) * int(Action.MASKED))
    if shape.decoder_layers:
        return _only(SeeEncoderDecoder().build(AskDecoder(target="text").build(masked)), positions)
    return replace(AskMasked().build(masked), network="generator" if shape.generator_ratio else "main")


def one_sided(shape: Architecture) -> bool:
    """Whether a word is predicted from the words on one side of it alone."""
    return shape.attention != "bidirectional" and not shape.two_streams


def words_seen(shape: Architecture, position: int, length: int) -> list[bool]:
    """Which words of a text are seen when the one at `position` is predicted, as in `with_gap`."""
    if not one_sided(shape):
        return [k != position for k in range(length)]
    ahead = 1 if shape.attention == "left to right" else -1
    most = shape.window_radius * shape.layers + 1 if shape.kind == "window" else length
    return [0 < ahead * (position - k) <= most for k in range(length)]


def _only(batch: Batch, positions: Tensor) -> Batch:
    """The same batch with the gaps alone scored."""
    first, *_ = batch.targets
    return replace(batch, targets=(replace(first, loss_mask=first.loss_mask & (first.origin == positions[:, None])),))


@torch.no_grad()
def log_chances(model: LanguageModel, batch: Batch) -> Tensor:
    """The log-probabilities of every word for the gap of every text, `[b, v]`."""
    training = model.training
    model.eval()
    answer = model(batch)[-1]
    model.train(training)
    return answer.scores[answer.rows.argsort(stable=True)].log_softmax(-1)
