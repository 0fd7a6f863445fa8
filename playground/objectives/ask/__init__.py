"""Ask: what must be predicted, where the answer is read, and which answers are graded."""

from playground.objectives.ask.label import AskPair
from playground.objectives.ask.replaced import AskReplaced
from playground.objectives.ask.within import AskWithin
from playground.objectives.ask.words import AskContinuation, AskInPlace, AskNext, AskQueryStream
from playground.objectives.ask.write import AskToWrite

__all__ = [
    "AskContinuation",
    "AskInPlace",
    "AskNext",
    "AskPair",
    "AskQueryStream",
    "AskReplaced",
    "AskToWrite",
    "AskWithin",
]
