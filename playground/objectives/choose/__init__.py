"""Choose: which tokens, spans or orders an objective works on. Specials and padding are never chosen."""

from playground.objectives.choose.adjacent import MergeAdjacent
from playground.objectives.choose.cuts import ChooseCausalSpans, ChooseMiddle
from playground.objectives.choose.diffusion import ChooseDiffused, ChooseDiffusedBlocks
from playground.objectives.choose.geometric import ChooseGeometricSpans
from playground.objectives.choose.kept_sentences import KeepSomeSentences
from playground.objectives.choose.labelled import ChooseSupervised
from playground.objectives.choose.ngrams import ChooseNgrams
from playground.objectives.choose.one_ngram import ChooseNgram
from playground.objectives.choose.order import ChooseAnyOrder, ChooseOrder
from playground.objectives.choose.sentences import ChooseGapSentences
from playground.objectives.choose.share import ChooseForDeletion, ChooseRatio
from playground.objectives.choose.spans import ChooseMassSpan, ChoosePoissonSpans, ChooseSpans, ChosenSpans
from playground.objectives.choose.split import ChooseSplit
from playground.objectives.choose.subsampling import SubsampleFrequent
from playground.objectives.choose.tokens import ChooseTokens
from playground.objectives.choose.trigrams import ChooseTrigrams
from playground.objectives.choose.units import ChooseWholeUnits

__all__ = [
    "ChooseAnyOrder",
    "ChooseCausalSpans",
    "ChooseDiffused",
    "ChooseDiffusedBlocks",
    "ChooseForDeletion",
    "ChooseGapSentences",
    "ChooseGeometricSpans",
    "ChooseMassSpan",
    "ChooseMiddle",
    "ChooseNgram",
    "ChooseNgrams",
    "ChooseOrder",
    "ChoosePoissonSpans",
    "ChooseRatio",
    "ChooseSpans",
    "ChooseSplit",
    "ChooseSupervised",
    "ChooseTokens",
    "ChooseTrigrams",
    "ChooseWholeUnits",
    "ChosenSpans",
    "KeepSomeSentences",
    "MergeAdjacent",
    "SubsampleFrequent",
]
