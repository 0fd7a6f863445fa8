"""Choose: which tokens, spans or orders an objective works on. Specials and padding are never chosen."""

from playground.objectives.choose.frequent import ChooseRarer
from playground.objectives.choose.geometric import ChooseGeometricSpans
from playground.objectives.choose.intact import ChooseIntact
from playground.objectives.choose.labelled import ChooseLabelled
from playground.objectives.choose.ngrams import ChooseNgrams
from playground.objectives.choose.one_ngram import ChooseOneNgram
from playground.objectives.choose.order import ChooseOrder
from playground.objectives.choose.runs import ChooseRuns
from playground.objectives.choose.sentences import ChooseGapSentences
from playground.objectives.choose.share import ChooseDeleted, ChooseShare
from playground.objectives.choose.spans import ChooseFragment, ChoosePoissonSpans, ChooseSpans, ChosenSpans, tell_spans
from playground.objectives.choose.split import ChooseSplit
from playground.objectives.choose.tokens import ChooseTokens
from playground.objectives.choose.trigrams import ChooseTrigrams
from playground.objectives.choose.units import ChooseUnits

__all__ = [
    "ChooseDeleted",
    "ChooseFragment",
    "ChooseGapSentences",
    "ChooseGeometricSpans",
    "ChooseIntact",
    "ChooseLabelled",
    "ChooseNgrams",
    "ChooseOneNgram",
    "ChooseOrder",
    "ChoosePoissonSpans",
    "ChooseRarer",
    "ChooseRuns",
    "ChooseShare",
    "ChooseSpans",
    "ChooseSplit",
    "ChooseTokens",
    "ChooseTrigrams",
    "ChooseUnits",
    "ChosenSpans",
    "tell_spans",
]
