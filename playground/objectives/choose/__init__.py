"""Choose: which tokens, spans or orders an objective works on. Specials and padding are never chosen."""

from playground.objectives.choose.geometric import ChooseGeometricSpans
from playground.objectives.choose.ngrams import ChooseNgrams
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
from playground.objectives.choose.trigrams import ChooseTrigrams
from playground.objectives.choose.units import ChooseUnits

__all__ = [
    "ChooseFragment",
    "ChooseGeometricSpans",
    "ChooseNgrams",
    "ChooseOrder",
    "ChoosePoissonSpans",
    "ChooseSpans",
    "ChooseSplit",
    "ChooseTokens",
    "ChooseTrigrams",
    "ChooseUnits",
    "Chosen",
    "ChosenOrder",
    "ChosenSpans",
    "Split",
    "inside",
    "mark_spans",
    "tell_spans",
    "wished_spans",
]
