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
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import batch


def texts(rows: list[list[str]], tokenizer: Tokenizer) -> Tokens:
    """Texts, given as words, as one padded batch `[b, t]`."""
    return batch([tokenizer.encode_words(words) for words in rows], tokenizer.specials, tokenizer.words)


def with_gap(shape: Architecture, tokens: Tokens, places: Tensor) -> Batch:
    """Texts with one gap each at `places` `[b]`.

    A model that reads from one side sees the words on that side of the gap (ELMo: its forward network), one with two
    streams all others, one with a decoder the masked text and the words written so far, every other the masked text.
    """
    if shape.kind == "static":
        raise UserError("Static vectors do not read a sentence, so they cannot fill a gap in one.")
    gap = arange_rows(tokens.ids) == places[:, None]
    whole = replace(begin(tokens), selected=gap)
    if shape.two_streams and shape.recurrent:
        return AskQueryStream().build(SeeAllButSelf().build(whole))
    if shape.two_streams:
        place, last = arange_rows(tokens.ids), tokens.lengths[:, None] - 1  # the gap comes last in the order
        rank = (place - (place > places[:, None]).long()).where(~gap, last).where(tokens.valid, place)
        return AskQueryStream().build(SeePermutation().build(replace(whole, prediction_order=rank)))
    if shape.attention == "left to right":
        return _only(AskNext().build(SeeLeft().build(ShiftRight().build(whole))), places)
    if shape.attention == "right to left":
        return _only(AskNext("right").build(SeeRight().build(ShiftRight("right").build(whole))), places)
    shown = replace(whole.inputs, ids=tokens.ids.masked_fill(gap, tokens.specials.mask))
    hidden = replace(whole, inputs=shown, actions=gap * int(Action.MASKED))
    if shape.decoder_layers:
        return _only(SeeEncoderDecoder().build(AskDecoder(target="text").build(hidden)), places)
    return replace(AskMasked().build(hidden), network="generator" if shape.generator_ratio else "main")


def _only(example: Batch, places: Tensor) -> Batch:
    """The same example with the gaps alone scored."""
    first, *_ = example.questions
    return replace(example, questions=(replace(first, loss_mask=first.loss_mask & (first.origin == places[:, None])),))


@torch.no_grad()
def log_chances(model: LanguageModel, example: Batch) -> Tensor:
    """The log-probabilities of every word for the gap of every text, `[b, v]`."""
    training = model.training
    model.eval()
    answer = model(example)[-1]
    model.train(training)
    return answer.scores[answer.rows.argsort(stable=True)].log_softmax(-1)
