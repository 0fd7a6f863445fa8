"""Static masking: MLM whose masks are drawn once per text."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.see import SeeAll

STATIC_MLM = MLM.variant(
    name="static MLM",
    aliases=("static masking", "fixed masks"),
    stages=(ArrangeText(), ChooseTokens(dupe_factor=1), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide the same words of a text each time it is read; with more copies, take a few choices in turn.",
    source="arXiv:1810.04805, sec. 3.1; arXiv:1907.11692, sec. 4.1",
)
