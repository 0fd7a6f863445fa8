"""Change: what happens to the chosen parts on their way into the model's input."""

from playground.objectives.change.content import ChangeContent
from playground.objectives.change.deletion import ChangeToNothing
from playground.objectives.change.entities import ChangeEntities
from playground.objectives.change.markers import ChangeToMarkers
from playground.objectives.change.masks import ChangeToMasks
from playground.objectives.change.order import ChangeSentenceOrder, ChangeStart, ChangeWordOrder
from playground.objectives.change.split import ChangeToFirstPart
from playground.objectives.change.tokens import ChangeTokens
from playground.objectives.change.trigrams import ChangeTrigrams

__all__ = [
    "ChangeContent",
    "ChangeEntities",
    "ChangeSentenceOrder",
    "ChangeStart",
    "ChangeToFirstPart",
    "ChangeToMarkers",
    "ChangeToMasks",
    "ChangeToNothing",
    "ChangeTokens",
    "ChangeTrigrams",
    "ChangeWordOrder",
]
