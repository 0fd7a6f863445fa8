"""ELECTRA's generator as a model of its own, and back: in transformers it lies in a folder of its own."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from playground.errors import UserError
from playground.models import Architecture
from playground.models.model import one_stack

OWN = {"generator.": "network.", "generator_lm_head.": "lm_head."}
"""The generator's weights, by what they are called in a model of its own."""

SHARED = (
    "token_embedding.", "network.position_embedding.", "network.segment_embedding.", "network.ln_embedding."
)  # fmt: skip
"""What generator and model have in common (arXiv:2003.10555, sec. 3.2)."""

ALIKE = (
    "layers", "heads", "mlp_ratio", "table_width", "activation", "norm_eps", "segments", "tie_word_embeddings"
)  # fmt: skip
"""What is the same in both."""

Part = tuple[Architecture, dict[str, Tensor]]
"""An architecture and its weights."""


def take_generator(shape: Architecture, state: Mapping[str, Tensor]) -> Part:
    """The generator of a model as a model of its own."""
    sizes = {"width": shape.generator_width, "embedding_size": shape.table_width}
    alone = replace(one_stack(shape), **sizes, rtd_head=False, generator_ratio=0.0)
    if shape.tie_generator == "all":
        return alone, {name: value for name, value in state.items() if not name.startswith("rtd_head.")}
    own = {new + name.removeprefix(old): state[name] for old, new in OWN.items() for name in _under(state, old)}
    return alone, {name: state[name] for shared in SHARED for name in _under(state, shared)} | own


def add_generator(
    shape: Architecture, state: Mapping[str, Tensor], small: Architecture, own: dict[str, Tensor]
) -> Part:
    """A model with the generator of another folder."""
    for name in ALIKE:
        one, other = getattr(small, name), getattr(shape, name)
        if one != other:
            raise UserError(f"The generator's {name} is {one} and the model's {other}; ours are equal.")
    for name in (name for shared in SHARED for name in _under(state, shared)):
        if not torch.equal(state[name], own[name]):
            raise UserError(f"The generator has another {name} than the model; ours have one for both.")
    whole = replace(shape, generator_ratio=small.width / shape.width, tie_generator="embeddings")
    if whole.generator_width != small.width:
        raise UserError(
            f"The generator is {small.width} wide; with {shape.heads} heads ours can be {whole.generator_width} wide."
        )
    kept = {name: value for name, value in own.items() if not name.startswith(SHARED)}
    renamed = {old + name.removeprefix(new): kept[name] for old, new in OWN.items() for name in _under(kept, new)}
    return whole, {**state, **renamed}


def _under(state: Mapping[str, Tensor], prefix: str) -> list[str]:
    return [name for name in state if name.startswith(prefix)]
