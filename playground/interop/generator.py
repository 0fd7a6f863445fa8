"""ELECTRA's generator as a model of its own, and back: in transformers it lies in a folder of its own."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from playground.errors import UserError
from playground.models import Architecture
from playground.models.model import one_stack

OWN = {"generator.": "network.", "generator_lm_head.": "lm_head.", "generator_token_embedding.": "token_embedding."}
"""The generator's weights, by what they are called in a model of its own."""

SHARED = (
    "token_embedding.", "network.position_embedding.", "network.segment_embedding.", "network.ln_embedding."
)  # fmt: skip
"""What generator and model may have in common (arXiv:2003.10555, sec. 3.2)."""

ALIKE = (
    "layers", "heads", "mlp_ratio", "table_width", "activation", "norm_eps", "segments", "tie_word_embeddings"
)  # fmt: skip
"""What is the same in both."""


def take_generator(shape: Architecture, state: Mapping[str, Tensor]) -> tuple[Architecture, dict[str, Tensor]]:
    """The generator of a model as a model of its own."""
    sizes = {"width": shape.generator_width, "embedding_size": shape.table_width}
    alone = replace(one_stack(shape), **sizes, rtd_head=False, generator_ratio=0.0)
    if shape.tie_generator == "all":
        return alone, {name: value for name, value in state.items() if not name.startswith("rtd_head.")}
    common = () if shape.generator_reads_own_words else SHARED
    return alone, {name: value for name, value in state.items() if name.startswith(common)} | _renamed(state, OWN)


def add_generator(
    shape: Architecture, state: Mapping[str, Tensor], small: Architecture, own: dict[str, Tensor]
) -> tuple[Architecture, dict[str, Tensor]]:
    """A model with the generator of another folder."""
    for name in ALIKE:
        one, other = getattr(small, name), getattr(shape, name)
        if one != other:
            raise UserError(f"The generator's {name} is {one} and the model's {other}; ours are equal.")
    alike = all(torch.equal(value, own[name]) for name, value in state.items() if name.startswith(SHARED))
    tied = "embeddings" if alike else "none"
    whole = replace(shape, generator_ratio=small.width / shape.width, tie_generator=tied)
    if whole.generator_width != small.width:
        raise UserError(
            f"The generator is {small.width} wide; with {shape.heads} heads ours can be {whole.generator_width} wide."
        )
    kept = {name: value for name, value in own.items() if not (alike and name.startswith(SHARED))}
    return whole, {**state, **_renamed(kept, {new: old for old, new in OWN.items()})}


def _renamed(state: Mapping[str, Tensor], prefixes: Mapping[str, str]) -> dict[str, Tensor]:
    """The weights whose names have one of the prefixes, with another in its place."""
    found = [(name, old) for name in state for old in prefixes if name.startswith(old)]
    return {prefixes[old] + name.removeprefix(old): state[name] for name, old in found}
