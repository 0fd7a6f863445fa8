"""mBART: denoising in several languages."""

from playground.objectives.arrange import ArrangeLanguage
from playground.objectives.catalog.bart import BART_MIXTURE
from playground.objectives.choose import ChoosePoissonSpans

MULTILINGUAL_DENOISING = BART_MIXTURE.variant(
    name="multilingual denoising",
    aliases=("mBART", "multilingual DAE"),
    needs=("translation",),
    stages=(ArrangeLanguage(), ChoosePoissonSpans(mask_ratio=0.35, mean_length=3.5), *BART_MIXTURE.stages[1:]),
    idea="Corrupt texts of several languages as BART does, each position with its language; a decoder writes the text.",
    source="arXiv:2001.08210, sec. 2",
)
