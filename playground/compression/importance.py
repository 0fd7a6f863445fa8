"""How much an answer depends on each head and each neuron: the mean size of its mask's gradient, text by text."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from playground.compression.classifier import Classifier, need_linear, stack_of
from playground.finetuning.data.dataset import Dataset, rows_of

BLOCK = 32
"""Texts that are read at once."""


def head_importance(classifier: Classifier, texts: Dataset) -> list[Tensor]:
    """The mean over texts of the loss's slope by a factor on each head, `[h]` for each layer (Michel et al. 2019)."""
    blocks = stack_of(classifier.model, "Head pruning").layers
    return _importance(classifier, texts, [(block.attn.out, block.attn.heads) for block in blocks])


def neuron_importance(classifier: Classifier, texts: Dataset) -> list[Tensor]:
    """The same for each neuron of the MLPs."""
    blocks = stack_of(classifier.model, "Neuron pruning").layers
    inner = [need_linear(block.mlp.fc2, "Neuron pruning") for block in blocks]
    return _importance(classifier, texts, [(layer, layer.in_features) for layer in inner])


def _importance(classifier: Classifier, texts: Dataset, layers: list[tuple[nn.Linear, int]]) -> list[Tensor]:
    """The importance of each of some equal parts of what each linear layer reads."""
    sums = [torch.zeros(parts) for _, parts in layers]
    for index in torch.arange(len(texts.labels)).split(BLOCK):
        some = texts.pick(index)
        rows = len(rows_of(index, texts.rows_each))
        masks = [torch.ones(rows, 1, parts, 1, requires_grad=True) for _, parts in layers]
        hooks = [layer.register_forward_pre_hook(_factor(mask)) for (layer, _), mask in zip(layers, masks, strict=True)]
        try:
            loss = some.answer.loss(classifier(some), some.labels) * len(index)
        finally:
            for hook in hooks:
                hook.remove()
        slopes = torch.autograd.grad(loss, masks)
        sums = [total + slope.abs().sum((0, 1, 3)) for total, slope in zip(sums, slopes, strict=True)]
    return [total / len(texts.labels) for total in sums]


def _factor(mask: Tensor) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
    def times(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        [x] = given
        return ((x.unflatten(-1, (mask.shape[2], -1)) * mask).flatten(2),)

    return times
