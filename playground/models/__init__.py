"""Tiny models that obey any visibility; they meet the objectives only in `Batch`."""

from playground.models.architecture import Architecture
from playground.models.losses import Answer, total_loss
from playground.models.model import LanguageModel
from playground.models.required_parts import make_model, with_required_parts

__all__ = ["Answer", "Architecture", "LanguageModel", "make_model", "total_loss", "with_required_parts"]
