"""A language model of several languages (Rosita, XLM)."""

from dataclasses import replace

from playground.objectives.arrange import DropLanguageIds, ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.lm import LM
from playground.objectives.objective import Printed
from playground.objectives.see import SeeLeft

MULTILINGUAL_LM = replace(
    LM,
    name="multilingual LM",
    aliases=("polyglot LM", "Rosita", "CLM"),
    row="",
    printed=Printed(),
    needs=("label:language",),
    stages=(ShiftRight(), DropLanguageIds(), SeeLeft(), AskNext()),
    idea=(
        "Predict each word from the words to its left, in texts of several languages. The model must see which "
        "language it reads, unless language embeddings say so, as in XLM's CLM."
    ),
    source="arXiv:1902.09697; with language_embeddings: arXiv:1901.07291, sec. 3.2",
)
