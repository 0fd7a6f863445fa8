"""What a model computes on the way to an answer, for losses that compare a student with its teacher."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.compression.classifier import Classifier, stack_of
from playground.finetuning.data.dataset import Dataset
from playground.models.model import LanguageModel, Network
from playground.models.positions import PositionEncoding
from playground.models.transformer import Attention, SdpaMask


@dataclass(frozen=True)
class Trace:
    """What a stack computes, a layer after the other.

    `states` `[b, t, d]` begin with the embeddings; `attention` `[b, h, t, t]` are scores before the softmax, `allowed`
    `[b, 1, t, t]` the cells that count; `values` `[b, h, t, d / h]`. `valid` `[b, t]` is what is no padding.
    """

    states: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    allowed: tuple[Tensor, ...]
    valid: Tensor
    top: Tensor


@dataclass(frozen=True)
class TextReading:
    """The answer, the way to it, and the vectors that the head would read in each layer, `[l, n, d]`.

    They are those of texts, or of all positions where answers are about words.
    """

    scores: Tensor
    trace: Trace
    vectors: Tensor


def trace(model: LanguageModel, tokens: Tokens) -> Trace:
    """The trace of a plain text; needs one stack of attention layers."""
    stack, network = stack_of(model, "This distillation"), cast("Network", model.network)
    [(_, plain)] = model._readings(tokens)
    x, positions = network._embed(plain, model.token_embedding.weight), network._positions(plain.position_ids)
    mask, valid = SdpaMask.of(plain.attn_mask), tokens.valid
    states, scores, values = [x], list[Tensor](), list[Tensor]()
    for depth, block in enumerate(stack.layers):
        seen = block.normed(x, block.ln_1)
        q, k, v = (block.attn._split(part(seen)) for part in (block.attn.query, block.attn.key, block.attn.value))
        scores.append(attention_scores(block.attn, q, k, positions))
        values.append(v)
        x = block(x, mask.layer(depth), positions)
        states.append(x)
    real = valid[:, None, :, None] & valid[:, None, None, :]
    dense = [mask.layer(depth).dense(each) for depth, each in enumerate(scores)]
    allowed = tuple(real if cells is None else real & cells for cells in dense)
    return Trace(tuple(states), tuple(scores), tuple(values), allowed, valid, stack.ln_f(x))


def read(classifier: Classifier, texts: Dataset) -> TextReading:
    """The reading of a batch of a task."""
    texts = classifier.remapped(texts)
    made = trace(classifier.model, texts.tokens)
    words, pooled = texts.answer.about == "words", classifier.head._pooled
    read = [s[made.valid] if words else pooled(s, made.valid, texts.vector) for s in made.states[1:]]
    return TextReading(classifier.answer(made.top, texts), made, torch.stack(read))


def attention_scores(attn: Attention, q: Tensor, k: Tensor, positions: PositionEncoding | None) -> Tensor:
    """What an attention puts into its softmax, `[b, h, n, m]`."""
    bias = None
    if positions is not None:
        q, k, bias = positions(attn, q, k)
    scores = q @ k.transpose(-1, -2) * attn.scale(q)
    return scores if bias is None else scores + bias
