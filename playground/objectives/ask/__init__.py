"""Ask: what is predicted, at which positions, and which predictions are scored."""

from playground.objectives.ask.label import AskCrossView, AskLabel, AskPair, AskReplaced
from playground.objectives.ask.loss_mask import OverrideLossMask, Reweight
from playground.objectives.ask.states import AskTeacherState
from playground.objectives.ask.words import (
    AskBlanks,
    AskCentre,
    AskContinuation,
    AskCount,
    AskDiffused,
    AskFurther,
    AskInBatchContrast,
    AskInput,
    AskMasked,
    AskMaskedNext,
    AskMoved,
    AskNeighbour,
    AskNext,
    AskQueryStream,
    AskSpanBoundary,
)
from playground.objectives.ask.write import AskAnswer, AskDecoder, AskTranslation

__all__ = [
    "AskAnswer",
    "AskBlanks",
    "AskCentre",
    "AskContinuation",
    "AskCount",
    "AskCrossView",
    "AskDecoder",
    "AskDiffused",
    "AskFurther",
    "AskInBatchContrast",
    "AskInput",
    "AskLabel",
    "AskMasked",
    "AskMaskedNext",
    "AskMoved",
    "AskNeighbour",
    "AskNext",
    "AskPair",
    "AskQueryStream",
    "AskReplaced",
    "AskSpanBoundary",
    "AskTeacherState",
    "AskTranslation",
    "OverrideLossMask",
    "Reweight",
]
