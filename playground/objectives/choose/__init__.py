"""Choose: which tokens, spans or orders an objective works on. Specials and padding are never chosen."""

from playground.objectives.choose.frequent import ChooseRarer
from playground.objectives.choose.labelled import ChooseLabelled
from playground.objectives.choose.one_ngram import ChooseOneNgram
from playground.objectives.choose.order import ChooseOrder, ChosenOrder
from playground.objectives.choose.spans import (
    ChooseFragment,
    ChoosePoissonSpans,
    ChooseSpans,
    ChosenSpans,
    inside,
    mark_spans,
    tell_spans,
    wished_spans,
)
from playground.objectives.choose.split import ChooseSplit, Split
from playground.objectives.choose.tokens import ChooseTokens, Chosen

__all__ = [
    "ChooseFragment",
    "ChooseLabelled",
    "ChooseOneNgram",
    "ChooseOrder",
    "ChoosePoissonSpans",
    "ChooseRarer",
    "ChooseSpans",
    "ChooseSplit",
    "ChooseTokens",
    "Chosen",
    "ChosenOrder",
    "ChosenSpans",
    "Split",
    "inside",
    "mark_spans",
    "tell_spans",
    "wished_spans",
]
