"""Gradients of states and scores with respect to the word vector at every position of the input."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from playground.answers import Target
from playground.batch import Batch, Stream, Tokens
from playground.corpora import pick
from playground.models import LanguageModel
from playground.models.model import Network

Part = TypeVar("Part")

EXACT = 64
"""Numbers of a state up to which its gradient is exact; of wider states as many random directions are followed."""

ROWS_AT_ONCE = 512
"""Copies of a sentence that are read in one pass."""


def states_of(model: LanguageModel, batch: Batch, target: Target, leaf: Tensor) -> Tensor:
    """The states `[b, n, d]` of the stream that answers a target, with `leaf` `[b, m, w]` as the input's vectors."""
    network, inputs = cast("Network", model.network_of(batch)), batch.inputs
    own = torch.arange(inputs.ids.numel(), device=leaf.device).view(inputs.ids.shape)
    source, table = replace(inputs, ids=own), leaf.flatten(0, 1)
    if target.at_query:
        positions = torch.arange(target.loss_mask.shape[1], device=leaf.device).expand_as(target.loss_mask)
        return network.query_stream(source, positions, table)
    if target.at_decoder:
        assert batch.decoder is not None
        written = replace(batch.decoder, ids=batch.decoder.ids + len(table))
        return network.decode(written, source, torch.cat([table, model.token_embedding.weight.detach()]))
    return network(source, table)


def leaf_of(model: LanguageModel, stream: Stream) -> Tensor:
    """The word vectors of a stream, `[b, n, w]`, apart from each other, so that each has a gradient of its own."""
    return model.token_embedding.weight.detach()[stream.ids].requires_grad_()


def sensitivity_of_text(model: LanguageModel, tokens: Tokens, level: int) -> Tensor:
    """How much each state of a plain text of one row moves with each word vector, `[t, t]` (Frobenius norms)."""
    if model.shape.kind == "static":
        return torch.eye(tokens.ids.shape[1]) * model.shape.width**0.5
    with torch.no_grad():
        [below] = model.hidden_states(tokens, last=0)

    def states(leaf: Tensor) -> Tensor:
        copies = pick(tokens, torch.zeros(len(leaf), dtype=torch.long))
        return model.hidden_states(copies, leaf, 0, level)[-1]

    return _norms(states, below)


def sensitivity_of_answers(model: LanguageModel, batch: Batch, target: Target) -> Tensor:
    """How much each answering state of an example of one row moves with each word vector that is read, `[n, m]`."""

    def states(leaf: Tensor) -> Tensor:
        return states_of(model, _copied(batch, len(leaf)), _copied(target, len(leaf)), leaf)

    return _norms(states, leaf_of(model, batch.inputs))


def _norms(states: Any, below: Tensor) -> Tensor:
    """Frobenius norms `[n, m]` of the derivatives of states `[r, n, d]` by vectors `[1, m, w]`, a copy for a number."""
    with torch.no_grad():
        _, number, width = states(below).shape
    directions = _directions(width)
    rows = [(position, k) for position in range(number) for k in range(len(directions))]
    squares = torch.zeros(number, below.shape[1])
    for first in range(0, len(rows), ROWS_AT_ONCE):
        position, k = torch.tensor(rows[first : first + ROWS_AT_ONCE]).T
        leaf = below.detach().expand(len(position), -1, -1).clone().requires_grad_()
        with torch.enable_grad():
            chosen = (states(leaf)[torch.arange(len(position)), position] * directions[k]).sum()
            [slope] = torch.autograd.grad(chosen, leaf)
        squares.index_add_(0, position, slope.square().sum(-1))
    return squares.sqrt()


def _directions(width: int) -> Tensor:
    """All axes `[d, d]`, or random orthogonal directions `[EXACT, d]` whose squares add up to the same on average."""
    if width <= EXACT:
        return torch.eye(width)
    random = torch.randn(width, EXACT, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(random)[0].T * (width / EXACT) ** 0.5


def _copied(value: Part, rows: int) -> Part:
    """A value of one row so many times, as views."""
    if isinstance(value, Tensor):
        one = value.dim() > 0 and len(value) == 1
        return value.expand(rows, *value.shape[1:]) if one else value  # type: ignore[return-value]
    if isinstance(value, Stream):
        return replace(_copied_fields(value, rows), known_ends=None)
    if isinstance(value, tuple):
        return tuple(_copied(each, rows) for each in value)  # type: ignore[return-value]
    whole = isinstance(value, Tokens) or not is_dataclass(value)
    return value if whole else _copied_fields(value, rows)  # type: ignore[return-value]


def _copied_fields(value: Any, rows: int) -> Any:
    return replace(value, **{f.name: _copied(getattr(value, f.name), rows) for f in fields(value) if f.init})
