"""Change: what happens to the chosen parts on their way into the model's input."""

from playground.objectives.change.content import ChangeContent
from playground.objectives.change.markers import ChangeToMarkers, markers
from playground.objectives.change.order import ChangeSentenceOrder, ChangeWordOrder, NewOrder
from playground.objectives.change.split import ChangeToFirstPart
from playground.objectives.change.tokens import ChangeTokens, Corruption, random_words, rewritten

__all__ = [
    "ChangeContent",
    "ChangeSentenceOrder",
    "ChangeToFirstPart",
    "ChangeToMarkers",
    "ChangeTokens",
    "ChangeWordOrder",
    "Corruption",
    "NewOrder",
    "markers",
    "random_words",
    "rewritten",
]
