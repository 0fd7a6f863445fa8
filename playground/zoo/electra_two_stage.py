"""ELECTRA's two phases: the generator learns alone, is frozen, and the detector begins with its weights.

arXiv:2003.10555, sec. 3.2; arXiv:2003.08271, sec. 3.1.5. What both share, such as the embedding table, is frozen too.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from playground.batch import Batch
from playground.errors import UserError
from playground.models import Architecture, LanguageModel
from playground.objectives import Objective
from playground.zoo.phase import Phase

GENERATOR = ("generator", "generator_lm_head", "generator_token_embedding")
"""The parts of a model that are the generator's alone."""

SHARED = ("position_embedding", "segment_embedding", "language_embedding", "ln_embedding")
"""The embeddings beside the table, and their norm, that the generator may share with the model."""


class GeneratorPhase(Phase):
    """Only the generator learns; its loss reaches no other part."""

    def check(self, shape: Architecture, objective: Objective) -> None:
        """Refuse two stages where there is no generator, or one whose weights do not fit the detector."""
        if not objective.proposes:
            raise UserError(f"generator_first is {self.share}, but {objective.name} has no generator; set it to 0.")
        if shape.generator_width != shape.width:
            raise UserError(
                f"generator_first is {self.share}, so the detector starts from the generator's weights; but the "
                f"generator is {shape.generator_width} wide and the detector {shape.width}. Set generator_ratio to 1."
            )
        if shape.tie_generator == "all":
            raise UserError(
                f"generator_first is {self.share}, but generator and detector are one network, of which no part can "
                "be frozen while the other learns; set tie_generator to embeddings."
            )

    def trained_part(self, batch: Batch) -> Batch:
        assert batch.generator is not None
        return batch.generator


class DetectorPhase(Phase):
    """All but the generator learns, from the generator's weights."""

    def trained_part(self, batch: Batch) -> Batch:
        return replace(batch, auxiliary=tuple(part for part in batch.auxiliary if not part.is_generator))

    def frozen(self, model: LanguageModel) -> Iterator[nn.Parameter]:
        shares, own_words = model.shape.tie_generator == "embeddings", model.shape.generator_reads_own_words
        for name, parameter in model.named_parameters():
            owner, part, *_ = name.split(".")
            tied = owner == "token_embedding" and not own_words
            if owner in GENERATOR or tied or (shares and owner == "network" and part in SHARED):
                yield parameter

    @torch.no_grad()
    def begin(self, model: LanguageModel) -> None:
        """Copy the generator's weights to every part of the detector of the same name and shape.

        A gradient-disentangled table is the generator's already.
        """
        if model.shape.tie_generator == "none":
            model.token_embedding.load_state_dict(model.generator_token_embedding.state_dict())
        theirs = dict(model.generator.named_parameters())
        for name, parameter in model.network.named_parameters():
            if name in theirs and theirs[name].shape == parameter.shape:
                parameter.copy_(theirs[name])


def two_stages(share: float) -> tuple[Phase, ...]:
    """The phases of a run whose generator learns alone for a share of the steps."""
    return GeneratorPhase("generator", share), DetectorPhase("detector", 1 - share)
