"""Arrange: how the text is laid out as positions before anything is chosen or changed."""

from playground.objectives.arrange.cells import ArrangeCooccurrences, Cells
from playground.objectives.arrange.code import ArrangeDocument, ControlCode, WrapSpecials
from playground.objectives.arrange.fields import ArrangeFields
from playground.objectives.arrange.first import ArrangeFirst
from playground.objectives.arrange.first_of_pair import FirstOfPair
from playground.objectives.arrange.labelled_pair import LabelledPair
from playground.objectives.arrange.language import ArrangeLanguage, DropLanguageIds
from playground.objectives.arrange.mixture_part import SampleTask
from playground.objectives.arrange.pair import ArrangePair
from playground.objectives.arrange.segments import ArrangeSegments
from playground.objectives.arrange.text import ArrangeText, ShiftRight
from playground.objectives.arrange.windows import ArrangeWindows

__all__ = [
    "ArrangeCooccurrences",
    "ArrangeDocument",
    "ArrangeFields",
    "ArrangeFirst",
    "ArrangeLanguage",
    "ArrangePair",
    "ArrangeSegments",
    "ArrangeText",
    "ArrangeWindows",
    "Cells",
    "ControlCode",
    "DropLanguageIds",
    "FirstOfPair",
    "LabelledPair",
    "SampleTask",
    "ShiftRight",
    "WrapSpecials",
]
