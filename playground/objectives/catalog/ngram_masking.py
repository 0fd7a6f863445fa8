"""N-gram masking, as in ALBERT."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseNgrams
from playground.objectives.see import SeeAll

NGRAMS = STATIC_MLM.variant(
    name="n-gram masking",
    aliases=("n-gram MLM", "ngrams"),
    stages=(ArrangeText(), ChooseNgrams(), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide spans of one to three words, short ones more often.",
    source="arXiv:1909.11942, sec. 4.1; arXiv:1905.03197, sec. 2",
)
