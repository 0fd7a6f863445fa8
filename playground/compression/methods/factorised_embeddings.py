"""Factorised embeddings: the table of word vectors becomes a product of a thin table and a projection."""

from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Generator

from playground.compression.classifier import Classifier, LowRankEmbedding
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob


@dataclass(frozen=True)
class FactoriseEmbeddings:
    """Replace the table `[V, H]` by the nearest product `[V, E] [E, H]`, by its singular values."""

    embedding_size: int = knob(
        16,
        1,
        512,
        unit="numbers per word",
        why="E; it saves parameters where E < V H / (V + H); from H on nothing changes.",
    )
    steps: int = knob(80, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if self.embedding_size < start.classifier.model.shape.width:
            start = replace(start, classifier=factorise(start.classifier, self.embedding_size))
        return fine_tune(start, data, rng, self.steps)


@torch.no_grad()
def factorise(classifier: Classifier, size: int) -> Classifier:
    """A copy whose words are `size` numbers, widened where they are read and where they are scored."""
    model = classifier.model
    narrow = model.shape.embedding_size or isinstance(model.token_embedding, LowRankEmbedding)
    wrong = {"has narrow vectors already": narrow, "makes word vectors of letters": model.shape.char_cnn}
    if reasons := [reason for reason, holds in wrong.items() if holds]:
        raise UserError(f"Embeddings cannot be factorised here: this model {reasons[0]}.")
    made = deepcopy(classifier)
    u, s, v = torch.linalg.svd(made.model.token_embedding.weight, full_matrices=False)
    made.model.add_module("token_embedding", LowRankEmbedding(u[:, :size] * s[:size], v[:size].clone()))
    return made


FACTORISED_EMBEDDINGS = Method(
    name="factorised embeddings",
    aliases=("low-rank embeddings", "factorized embedding parameterization"),
    family="low rank and sharing",
    rows=("C04",),
    idea="Make the embedding table narrow, and project its vectors to the width of the model.",
    source="Lan et al. (ALBERT), arXiv:1909.11942, sec. 3.1",
    unlike_paper="the factors are the singular vectors of a trained table; the paper trains them from the start",
    step=FactoriseEmbeddings(),
    identity="embedding_size=512, steps=0",
)
