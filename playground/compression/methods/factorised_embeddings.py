"""Factorised embeddings: the table of word vectors becomes a product of a thin table and a projection."""

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator

from playground.compression.classifier import Classifier
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob
from playground.models.model import LanguageModel


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
    identity: ClassVar[Mapping[str, Any]] = {"embedding_size": 512, "steps": 0}

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if self.embedding_size < start.classifier.model.shape.width:
            start = replace(start, classifier=factorise(start.classifier, self.embedding_size))
        return fine_tune(start, data, rng, self.steps)


@torch.no_grad()
def factorise(classifier: Classifier, size: int) -> Classifier:
    """A copy whose vectors are `size` numbers, widened below the first layer; the scores of words use both factors."""
    model, shape = classifier.model, classifier.model.shape
    wrong = {
        "has narrow vectors already": shape.embedding_size, "normalises its embeddings": shape.embedding_norm,
        "has a layer before its output layer": shape.head_transform, "is no transformer": shape.kind != "transformer",
        "has a generator": shape.generator_ratio, "has two streams": shape.two_streams,
        "has no head that scores words": not shape.lm_head,
        "scores words by a second table": not shape.tie_word_embeddings,
    }  # fmt: skip
    if reasons := [reason for reason, holds in wrong.items() if holds]:
        raise UserError(f"Embeddings cannot be factorised here: this model {reasons[0]}.")
    table = model.token_embedding.weight
    _, _, basis = torch.linalg.svd(table, full_matrices=False)
    across = basis[:size].T  # `[H, E]`
    narrow = re.compile(r"(network\.)?\w+_embedding\.(\w+\.)?weight")  # of tokens, positions, languages and the like
    state = {n: v @ across if narrow.fullmatch(n) else v for n, v in model.state_dict().items()}
    for name, weight in (("network.embedding_projection", across), ("lm_head.projection", across.T)):
        state |= {f"{name}.weight": weight, f"{name}.bias": torch.zeros(len(weight))}
    made, new = LanguageModel(replace(shape, embedding_size=size), len(table), None), deepcopy(classifier)
    made.network.add_module("encoder", new.model.network.get_submodule("encoder"))  # which may have been cut
    made.load_state_dict(state)
    new.model = made
    return new


FACTORISED_EMBEDDINGS = Method(
    name="factorised embeddings",
    aliases=("low-rank embeddings", "factorized embedding parameterization"),
    family="low rank and sharing",
    rows=("C04",),
    idea="Make the embedding table narrow and project what is read from it to the width of the model.",
    source="Lan et al. (ALBERT), arXiv:1909.11942, sec. 3.1",
    unlike_paper="the factors are the singular vectors of a trained table; the paper trains them from the start",
    step=FactoriseEmbeddings(),
)
