"""Change: what happens to the chosen parts on their way into the model's input."""

from playground.objectives.change.markers import ChangeToMarkers, markers
from playground.objectives.change.masks import ChangeToMasks
from playground.objectives.change.order import ChangeSentenceOrder, ChangeWordOrder, NewOrder
from playground.objectives.change.tokens import ChangeTokens, Corruption, random_words, rewritten

__all__ = [
    "ChangeSentenceOrder",
    "ChangeToMarkers",
    "ChangeToMasks",
    "ChangeTokens",
    "ChangeWordOrder",
    "Corruption",
    "NewOrder",
    "markers",
    "random_words",
    "rewritten",
]
