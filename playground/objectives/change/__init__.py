"""Change: what happens to the chosen parts on their way into the model's input."""

from playground.objectives.change.clean_copy import AppendCleanCopy
from playground.objectives.change.content import MaskContentStream
from playground.objectives.change.deletion import DeleteTokens
from playground.objectives.change.entities import ChangeEntities
from playground.objectives.change.markers import SpansToSentinels
from playground.objectives.change.masks import ReplaceWithMask
from playground.objectives.change.mode import PrependModeToken
from playground.objectives.change.order import ChangeSentenceOrder, ChangeWordOrder, RotateDocument, ShiftInOrder
from playground.objectives.change.rearranged import MoveMiddle, MoveSpans, SpansToBlanks
from playground.objectives.change.split import DropTarget
from playground.objectives.change.tokens import ChangeTokens
from playground.objectives.change.trigrams import ChangeTrigrams

__all__ = [
    "AppendCleanCopy",
    "ChangeEntities",
    "ChangeSentenceOrder",
    "ChangeTokens",
    "ChangeTrigrams",
    "ChangeWordOrder",
    "DeleteTokens",
    "DropTarget",
    "MaskContentStream",
    "MoveMiddle",
    "MoveSpans",
    "PrependModeToken",
    "ReplaceWithMask",
    "RotateDocument",
    "ShiftInOrder",
    "SpansToBlanks",
    "SpansToSentinels",
]
