"""Arrange: how the text is laid out as positions before anything is chosen or changed."""

from playground.objectives.arrange.pair import ArrangePair
from playground.objectives.arrange.text import ArrangeShifted, ArrangeText

__all__ = ["ArrangePair", "ArrangeShifted", "ArrangeText"]
