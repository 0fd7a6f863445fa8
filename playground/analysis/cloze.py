"""A model's probabilities for one word of each text, under the mask that it was trained with."""

from dataclasses import replace

import torch
from torch import Tensor

from playground.batch import Action, Batch, Tokens, arange_rows, begin, gather_origin
from playground.errors import UserError
from playground.models import LanguageModel
from playground.models.architecture import Architecture
from playground.objectives.arrange import ArrangeText, ShiftRight
from playground.objectives.ask import AskDecoder, AskMasked, AskMaskedNext, AskNext, AskQueryStream
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
    if (number := text.count(MASK)) != 1:
        raise UserError(f"{text[:60]!r} has {number} gaps; write {MASK} once, for the word to be predicted.")
    return gaps_of(text, tokenizer)


def gaps_of(text: str, tokenizer: Tokenizer) -> tuple[Tokens, Tensor]:
    """A text with one or several `[MASK]` as a batch of one row, and the positions of the gaps `[g]`."""
    first, *others = (tokenizer.encode_words(split_words(clean(part))) for part in text.split(MASK))
    if not others:
        raise UserError(f"{text[:60]!r} has no gap; write {MASK} for each word to be predicted.")
    row = first
    for part in others:
        row = [*row, tokenizer.specials.mask, *part]
    gaps = torch.tensor([len(first), *(len(part) + 1 for part in others[:-1])]).cumsum(0)
    return pad_rows([row], tokenizer.specials, tokenizer.words), gaps


def fill_gaps(model: LanguageModel, tokens: Tokens, gaps: Tensor) -> Tensor:
    """The log-probabilities of every word for each gap of one text, `[g, v]`.

    No gap shows its word to another. A model that reads or writes in one direction gets its own likeliest word in each
    gap that it has passed, as in greedy search.
    """
    shape, device = model.shape, model.token_embedding.weight.device
    if len(gaps) > 1 and shape.two_streams and shape.recurrent:
        raise UserError(f"This model reads all words but one, so it cannot hide {len(gaps)}; write {MASK} once.")
    rows, chances = tokens.to(device), {}
    in_turn = one_sided(shape) or bool(shape.decoder_layers)
    order = sorted(gaps.tolist(), reverse=shape.attention == "right to left")
    for gap in order:
        others = torch.isin(torch.arange(rows.ids.shape[1]), gaps[gaps != gap])[None].to(device)
        chances[gap] = log_chances(model, with_gap(shape, rows, torch.tensor([gap], device=device), others))[0]
        if in_turn:
            ids = rows.ids.clone()
            ids[0, gap] = chances[gap].argmax()
            rows = replace(rows, ids=ids)
    return torch.stack([chances[gap] for gap in gaps.tolist()])


def with_gap(shape: Architecture, tokens: Tokens, positions: Tensor, hidden: Tensor | None = None) -> Batch:
    """Texts with one gap each at `positions` `[b]`; `hidden` `[b, t]` are other words that are not seen either.

    A model that reads from one side sees the words on that side of the gap (ELMo: its forward network), one with two
    streams all others, one with a decoder the masked text and the words written so far, every other the masked text.
    """
    if shape.kind == "static":
        raise UserError("Static vectors do not read a sentence, so they cannot fill a gap in one.")
    gap = arange_rows(tokens.ids) == positions[:, None]
    later = torch.zeros_like(gap) if hidden is None else hidden
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
    hides = replace(whole, actions=(gap | later) * int(Action.MASKED))
    if shape.decoder_layers:
        return _only(SeeEncoderDecoder().build(AskDecoder(target="text").build(_masked(hides))), positions)
    return ask_masked(shape, hides)


def ask_masked(shape: Architecture, batch: Batch) -> Batch:
    """Texts with some words masked (`actions`), and the selected ones asked for, at the positions that were trained."""
    if shape.predicts_ahead:
        return AskMaskedNext().build(_masked(ArrangeText(add_special_tokens=True).build(batch)))
    return replace(AskMasked().build(_masked(batch)), network="generator" if shape.generator_ratio else "main")


def _masked(batch: Batch) -> Batch:
    """The same batch with a mask token in place of every masked word."""
    inputs = batch.inputs
    hidden = gather_origin(batch.actions == Action.MASKED, inputs.origin, False)
    return replace(batch, inputs=replace(inputs, ids=inputs.ids.masked_fill(hidden, batch.tokens.specials.mask)))


def one_sided(shape: Architecture) -> bool:
    """Whether a word is predicted from the words on one side of it alone."""
    return shape.attention != "bidirectional" and not shape.two_streams


def words_seen(shape: Architecture, position: int, length: int) -> list[bool]:
    """Which words of a text are seen when the one at `position` is predicted, as in `with_gap`."""
    if not one_sided(shape):
        return [k != position for k in range(length)]
    ahead = 1 if shape.attention == "left to right" else -1
    most = (shape.layer_window - 1) * shape.layers + 1 if shape.layer_window else length
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
