"""Tiny models for any attention mask; they meet the objectives only in `Batch`."""

from playground.answers import Answer, total_loss
from playground.models.architecture import Architecture, tiny, with_required_parts
from playground.models.model import LanguageModel, count_parameters, make_model, model_without_weights
from playground.models.reading_order import with_stretches

__all__ = [
    "Answer",
    "Architecture",
    "LanguageModel",
    "count_parameters",
    "make_model",
    "model_without_weights",
    "tiny",
    "total_loss",
    "with_required_parts",
    "with_stretches",
]
