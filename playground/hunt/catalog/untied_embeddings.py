"""Tied embeddings that are no longer tied."""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import cosine_similarity

from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.models.heads import VocabularyHead
from playground.training.train_state import TrainState


def untied(learner: TrainState) -> TrainState:
    """The learner whose head has a copy of the embedding table, which is trained for itself."""
    model = deepcopy(learner.model)
    assert isinstance(model.lm_head, VocabularyHead)
    model.lm_head.table = nn.Embedding.from_pretrained(model.token_embedding.weight.detach().clone(), freeze=False)
    learner = replace(learner, model=model)
    learner.enter_phase()
    return learner


def cosine_of_both_vectors(suspect: Suspect) -> float:
    """The mean cosine between the vector with which a word is read and that with which it is scored."""
    model = suspect.learner.model
    assert isinstance(model.lm_head, VocabularyHead)
    read, scored = model.token_embedding, model.lm_head.table or model.token_embedding
    return float(cosine_similarity(read.weight, scored.weight).mean().detach())


def scores_use_the_embedding(suspect: Suspect) -> bool:
    """Whether the scores of words move with the embedding table when the states stay as they are."""
    model = suspect.learner.model
    states = torch.ones(1, model.shape.width, device=suspect.learner.device)
    scores = model.score(states, "vocabulary", model.network)
    [gradient] = torch.autograd.grad(scores.sum(), model.token_embedding.weight, allow_unused=True)
    return gradient is not None


UNTIED_EMBEDDINGS = Fault(
    name="tied embeddings that are no longer tied",
    group="Training loop",
    symptom="The checkpoint has more weights than the configuration says.",
    explanation="The output weights became a copy of the embedding table, and the optimiser moved each copy its own "
    "way. Tied weights are one tensor, before and after every step.",
    repository="NVIDIA/Megatron-LM",
    thread="https://github.com/NVIDIA/Megatron-LM/issues/656",
    law="With tied embeddings a word is read and scored with the same vector.",
    shows="mean cosine between the vector that reads a word and the one that scores it",
    figure=cosine_of_both_vectors,
    holds=scores_use_the_embedding,
    change_learner=untied,
)
