"""A teacher: a slow copy of a network, the exponential moving average of its weights, which gets no gradient."""

from copy import deepcopy

import torch
from torch import Tensor, nn

from playground.batch import Stream
from playground.models.architecture import need
from playground.models.dropout import Dropout
from playground.models.transformer import Stack, Weights

AVERAGED = "encoder."
"""What the names of averaged weights begin with; all others are those of the network (data2vec's released code)."""


def slow_copy(network: nn.Module) -> nn.Module:
    """A copy whose weights are buffers and so are saved but never trained; it leaves nothing out by dropout."""
    copy = deepcopy(network)
    for module in list(copy.modules()):
        for name, parameter in list(module.named_parameters(recurse=False)):
            delattr(module, name)
            module.register_buffer(name, parameter.detach())
        for name, child in list(module.named_children()):
            if isinstance(child, Dropout):
                setattr(module, name, None)
    return copy


@torch.no_grad()
def follow(teacher: nn.Module, network: nn.Module, decay: float) -> None:
    """Move the copy: `decay` times its own weights plus `1 - decay` times the network's (arXiv:2202.03555, eq. 1).

    Embeddings are not averaged: they are those of the network.
    """
    own = dict(teacher.named_buffers())
    for name, parameter in network.named_parameters():
        own[name].lerp_(parameter, 1 - decay if name.startswith(AVERAGED) else 1.0)


@torch.no_grad()
def mlp_outputs(teacher: nn.Module, stream: Stream, table: Tensor, attn_weights: Weights = None) -> list[Tensor]:
    """What the MLP of each layer gives before it is added, `[b, n, d]` each, from the lowest layer up."""
    stack = teacher.encoder
    need(isinstance(stack, Stack), "reads the states of each MLP", "kind to transformer")
    assert isinstance(stack, Stack)
    outputs: list[Tensor] = []

    def keep(module: nn.Module, read: tuple[Tensor, ...], output: Tensor) -> None:
        outputs.append(output)

    mlps = dict.fromkeys(block.mlp for block in stack.layers)  # one where layers are shared
    hooks = [mlp.register_forward_hook(keep) for mlp in mlps]
    try:
        teacher(stream, table, attn_weights)
    finally:
        for hook in hooks:
            hook.remove()
    return outputs
