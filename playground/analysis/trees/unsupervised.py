"""Trees without supervision: spanning trees over attention, and over plain distances between states."""

import torch
from torch import Tensor

from playground.analysis.subject import ROWS_AT_ONCE
from playground.batch import Tokens
from playground.corpora import pick
from playground.models import LanguageModel


@torch.no_grad()
def plain_attention(model: LanguageModel, tokens: Tokens) -> Tensor:
    """Attention weights of a plain text `[layers, h, r, t, t]`, read from one side or both as in pre-training."""
    parts = torch.arange(len(tokens.ids)).split(ROWS_AT_ONCE)
    return torch.cat([_attention(model, pick(tokens, rows)) for rows in parts], dim=2)


def _attention(model: LanguageModel, tokens: Tokens) -> Tensor:
    network, plain = model._readings(tokens)[0]
    weights: dict[str, list[Tensor]] = {}
    network(plain, model.token_embedding.weight, weights, "encoder")
    return torch.stack(weights["encoder"]).transpose(1, 2).cpu()


def attention_costs(weights: Tensor) -> Tensor:
    """Costs of joining two words, `[..., t, t]`: less where either attends to the other, so the tree is a maximum."""
    return -(weights + weights.transpose(-1, -2))
