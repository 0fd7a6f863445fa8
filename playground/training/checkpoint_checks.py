"""What a checkpoint must hold before anything is made of it: types, ranges and sizes; what is wrong is a ValueError."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.models import Architecture
from playground.parsing import LARGEST

MOST_LABELS = 2**26
"""No number of a label is larger: a label counts something in a corpus, and no corpus here has so many tokens."""

STATE = {torch.optim.AdamW: {"step", "exp_avg", "exp_avg_sq"}, torch.optim.Muon: {"momentum_buffer"}}
"""What each optimiser keeps of a weight."""


def number(about: Mapping[str, Any], name: str, kind: type = int) -> Any:
    """A number of the header from 0 on; a seed may be below."""
    value = about[name]
    fits = isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
    if not fits or not (-LARGEST if name == "seed" else 0) <= value <= LARGEST:
        raise ValueError(f"{name} is {value!r}")
    return value


def check_size(shape: Architecture, words: int, tensors: Mapping[str, Tensor]) -> None:
    """Whether the file holds as many weights as its model wants, before memory for that model is asked for."""
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("model."))
    rows = words + shape.segments + shape.languages + sum(number for _, number in shape.labels)
    if shape.kind == "static":
        wanted = (rows + shape.ngrams) * shape.width
    else:
        rows += shape.max_position_embeddings if shape.positions == "learned" else 0
        layers = shape.layers + shape.decoder_layers
        wanted = rows * shape.width + layers * (4 + 2 * shape.mlp_ratio) * shape.width**2
    if wanted > held:
        raise ValueError(f"its model has {wanted:,} weights or more, the file {held:,}")


def check_rows(tokens: Tokens, name: str, classes: Mapping[str, int]) -> None:
    """Whether rows of text are rows of text: whole numbers of one shape, each in its range."""
    if tokens.ids.dim() != 2 or not tokens.ids.numel():
        raise ValueError(f"{name}.ids has the shape {list(tokens.ids.shape)}")
    (rows, longest), size = tokens.ids.shape, len(tokens.vocabulary)
    each, one = (rows, longest), (rows,)
    _check(f"{name}.ids", tokens.ids, each, 0, size - 1)
    _check(f"{name}.lengths", tokens.lengths, one, 0, longest)
    _check(f"{name}.word_ids", tokens.word_ids, each, 0, longest - 1)
    _check(f"{name}.sentence_ids", tokens.sentence_ids, each, 0, longest - 1)
    for label, row in tokens.labels.items():
        _check(f"{name}.label.{label}", row, each, -1, classes.get(label, MOST_LABELS) - 1)
    for what, kept in (("example_ids", tokens.example_ids), ("epoch", tokens.epoch)):
        if kept is not None:
            _check(f"{name}.{what}", kept, one, 0, LARGEST)
    if tokens.word_counts is not None:
        _check(
            f"{name}.word_counts",
            tokens.word_counts,
            (max(len(tokens.word_counts), int(tokens.ids.max()) + 1),),
            0,
            LARGEST,
        )
    for near, other in tokens.neighbours.items():
        check_rows(other, f"{name}.neighbour.{near}", classes)
        if len(other.ids) != rows:
            raise ValueError(f"{name}.neighbour.{near} has {len(other.ids)} rows, not {rows}")


def _check(name: str, tensor: Tensor, shape: tuple[int, ...], low: int, high: int) -> None:
    if tensor.dtype != torch.long or tuple(tensor.shape) != shape:
        raise ValueError(f"{name} is {tensor.dtype} of shape {list(tensor.shape)}, not whole numbers {list(shape)}")
    if not low <= int(tensor.min()) <= int(tensor.max()) <= high:
        raise ValueError(f"{name} holds {int(tensor.min())} to {int(tensor.max())}, not {low} to {high}")


def check_state(optimiser: torch.optim.Optimizer, state: Mapping[int, Mapping[str, Tensor]]) -> None:
    """Whether what an optimiser is to remember belongs to its weights."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    for index, kept in state.items():
        if not 0 <= index < len(weights) or set(kept) != STATE[type(optimiser)]:
            raise ValueError(f"weight {index} of {len(weights)} has the moments {', '.join(sorted(kept))}")
        for name, value in kept.items():
            shape = () if name == "step" else tuple(weights[index].shape)
            if not value.is_floating_point() or tuple(value.shape) != shape:
                raise ValueError(f"{name} of weight {index} is {value.dtype} of shape {list(value.shape)}")
