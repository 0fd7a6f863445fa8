"""Change: what happens to the chosen parts on their way into the model's input."""

from playground.objectives.change.entities import ChangeEntities, OtherNames
from playground.objectives.change.markers import ChangeToMarkers, markers
from playground.objectives.change.order import ChangeSentenceOrder, ChangeWordOrder, NewOrder
from playground.objectives.change.tokens import ChangeTokens, Corruption, random_words, rewritten
from playground.objectives.change.trigrams import ChangeTrigrams

__all__ = [
    "ChangeEntities",
    "ChangeSentenceOrder",
    "ChangeToMarkers",
    "ChangeTokens",
    "ChangeTrigrams",
    "ChangeWordOrder",
    "Corruption",
    "NewOrder",
    "OtherNames",
    "markers",
    "random_words",
    "rewritten",
]
