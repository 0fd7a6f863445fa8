"""Ask: what must be predicted, where the answer is read, and which answers are graded."""

from playground.objectives.ask.label import AskPair
from playground.objectives.ask.match import AskMatch
from playground.objectives.ask.near import AskCentre, AskCount, AskNeighbour
from playground.objectives.ask.replaced import AskReplaced
from playground.objectives.ask.views import AskViews
from playground.objectives.ask.words import AskContinuation, AskInPlace, AskNext, AskQueryStream
from playground.objectives.ask.write import AskToWrite

__all__ = [
    "AskCentre",
    "AskContinuation",
    "AskCount",
    "AskInPlace",
    "AskMatch",
    "AskNeighbour",
    "AskNext",
    "AskPair",
    "AskQueryStream",
    "AskReplaced",
    "AskToWrite",
    "AskViews",
]
