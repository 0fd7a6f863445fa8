"""Ask: what must be predicted, where the answer is read, and which answers are graded."""

from playground.objectives.ask.boundary import AskBoundary
from playground.objectives.ask.judged import AskJudged
from playground.objectives.ask.label import AskLabel, AskPair
from playground.objectives.ask.match import AskMatch
from playground.objectives.ask.near import AskCentre, AskCount, AskNeighbour
from playground.objectives.ask.replaced import AskReplaced
from playground.objectives.ask.translate import AskAnswer, AskTranslation
from playground.objectives.ask.views import AskViews
from playground.objectives.ask.within import AskWithin
from playground.objectives.ask.words import AskContinuation, AskInPlace, AskMoved, AskNext, AskQueryStream
from playground.objectives.ask.write import AskToWrite

__all__ = [
    "AskAnswer",
    "AskBoundary",
    "AskCentre",
    "AskContinuation",
    "AskCount",
    "AskInPlace",
    "AskJudged",
    "AskLabel",
    "AskMatch",
    "AskMoved",
    "AskNeighbour",
    "AskNext",
    "AskPair",
    "AskQueryStream",
    "AskReplaced",
    "AskToWrite",
    "AskTranslation",
    "AskViews",
    "AskWithin",
]
