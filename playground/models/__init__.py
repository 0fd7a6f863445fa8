"""Tiny models that obey any visibility; they meet the objectives only in `Example`."""

from playground.models.architecture import Architecture
from playground.models.fit import fitted, make_model
from playground.models.grading import Answer, grade
from playground.models.model import LanguageModel

__all__ = ["Answer", "Architecture", "LanguageModel", "fitted", "grade", "make_model"]
