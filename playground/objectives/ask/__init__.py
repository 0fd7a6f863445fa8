"""Ask: what must be predicted, where the answer is read, and which answers are graded."""

from playground.objectives.ask.boundary import AskSpanBoundary
from playground.objectives.ask.judged import OverrideLossMask
from playground.objectives.ask.label import AskLabel, AskPair
from playground.objectives.ask.match import AskInBatchContrast
from playground.objectives.ask.near import AskCentre, AskCount, AskNeighbour
from playground.objectives.ask.replaced import AskReplaced
from playground.objectives.ask.translate import AskAnswer, AskTranslation
from playground.objectives.ask.views import AskCrossView
from playground.objectives.ask.within import Reweight
from playground.objectives.ask.words import AskContinuation, AskMasked, AskMoved, AskNext, AskQueryStream
from playground.objectives.ask.write import AskDecoder

__all__ = [
    "AskAnswer",
    "AskCentre",
    "AskContinuation",
    "AskCount",
    "AskCrossView",
    "AskDecoder",
    "AskInBatchContrast",
    "AskLabel",
    "AskMasked",
    "AskMoved",
    "AskNeighbour",
    "AskNext",
    "AskPair",
    "AskQueryStream",
    "AskReplaced",
    "AskSpanBoundary",
    "AskTranslation",
    "OverrideLossMask",
    "Reweight",
]
