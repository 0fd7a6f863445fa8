"""Arrange: how the text is laid out as positions before anything is chosen or changed."""

from playground.objectives.arrange.cells import ArrangeCells, Cells
from playground.objectives.arrange.code import ArrangeCode, ArrangeDocument, ArrangeSigned
from playground.objectives.arrange.half import ArrangeHalf
from playground.objectives.arrange.judged import ArrangeJudged
from playground.objectives.arrange.language import ArrangeLanguage, ArrangeTold
from playground.objectives.arrange.pair import ArrangePair
from playground.objectives.arrange.part import ArrangePart
from playground.objectives.arrange.text import ArrangeShifted, ArrangeText
from playground.objectives.arrange.windows import ArrangeWindows

__all__ = [
    "ArrangeCells",
    "ArrangeCode",
    "ArrangeDocument",
    "ArrangeHalf",
    "ArrangeJudged",
    "ArrangeLanguage",
    "ArrangePair",
    "ArrangePart",
    "ArrangeShifted",
    "ArrangeSigned",
    "ArrangeText",
    "ArrangeTold",
    "ArrangeWindows",
    "Cells",
]
