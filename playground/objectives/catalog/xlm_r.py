"""XLM-R: MLM of several languages."""

from playground.objectives.arrange import ArrangeText, DropLanguageIds
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.see import SeeAll

MULTILINGUAL_MLM = MLM.variant(
    name="multilingual MLM",
    aliases=("mBERT", "XLM-R"),
    needs=("label:language",),
    stages=(ArrangeText(), DropLanguageIds(), ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked()),
    idea=(
        "Hide some words of texts in several languages, one language in each text. The model must see which language "
        "it reads, unless language embeddings say so, as in XLM's MLM."
    ),
    source="arXiv:1911.02116, sec. 3; with language_embeddings: arXiv:1901.07291, sec. 3.3",
)
