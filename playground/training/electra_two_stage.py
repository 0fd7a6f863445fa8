"""ELECTRA's two phases: the generator learns alone, is frozen, and the detector begins with its weights.

arXiv:2003.10555, sec. 3.2; arXiv:2003.08271, sec. 3.1.5. What both share, such as the embedding table, is frozen too.
"""

from dataclasses import replace

import torch

from playground.batch import Batch
from playground.errors import UserError
from playground.models import LanguageModel
from playground.zoo.entry import Entry
from playground.zoo.phase import Phase

GENERATOR = ("token_embedding", "generator", "generator_lm_head")
"""The parts of a model that the generator answers with."""

SHARED = ("position_embedding", "segment_embedding", "language_embedding")
"""The embeddings beside the table that the generator may share with the model."""


def check(entry: Entry) -> None:
    """Refuse two stages where there is no generator, or one whose weights do not fit the detector."""
    share, shape = entry.recipe.generator_first, entry.model
    if not share:
        return
    if not entry.objective.proposes:
        raise UserError(f"generator_first is {share}, but {entry.objective.name} has no generator; set it to 0.")
    if shape.generator_width != shape.width:
        raise UserError(
            f"generator_first is {share}, so the detector starts from the generator's weights; but the generator is "
            f"{shape.generator_width} wide and the detector {shape.width}. Set generator_ratio to 1."
        )
    if shape.tie_generator == "all":
        raise UserError(
            f"generator_first is {share}, but generator and detector are one network, of which no part can be frozen "
            "while the other learns; set tie_generator to embeddings."
        )


def trained_part(phase: Phase, example: Batch) -> Batch:
    """What trains in a phase: the whole example, or the generator's alone, or all but the generator's."""
    if not phase.trains:
        return example
    if phase.trains == "generator":
        assert example.generator is not None
        return example.generator
    return replace(example, auxiliary=tuple(part for part in example.auxiliary if not part.is_generator))


def freeze(phase: Phase, model: LanguageModel) -> None:
    """Only parameters that train in a phase get a gradient; the optimisers leave the others."""
    if not phase.trains:
        return
    shares = model.shape.tie_generator == "embeddings"
    for name, parameter in model.named_parameters():
        owner, part, *_ = name.split(".")
        of_generator = owner in GENERATOR or (shares and owner == "network" and part in SHARED)
        parameter.requires_grad_(of_generator == (phase.trains == "generator"))


@torch.no_grad()
def hand_over(phase: Phase, model: LanguageModel) -> None:
    """When the detector begins, copy the generator's weights to every part of it of the same name and shape."""
    if phase.trains != "detector":
        return
    theirs = dict(model.generator.named_parameters())
    for name, parameter in model.network.named_parameters():
        if name in theirs and theirs[name].shape == parameter.shape:
            parameter.copy_(theirs[name])
