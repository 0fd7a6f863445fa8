"""Language models of several languages (XLM, Rosita)."""

from dataclasses import replace

from playground.objectives.arrange import DropLanguageIds, ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.elmo import BACKWARD_LM, BILM, HALF
from playground.objectives.catalog.lm import LM
from playground.objectives.see import SeeLeft, SeeRight

MULTILINGUAL_LM = LM.variant(
    name="multilingual LM",
    aliases=("CLM",),
    needs=("label:language",),
    stages=(ShiftRight(), DropLanguageIds(), SeeLeft(), AskNext()),
    idea=(
        "Predict each word from the words to its left, in texts of several languages. The model must see which "
        "language it reads, unless language embeddings say so, as in XLM's CLM."
    ),
    source="arXiv:1901.07291, sec. 3.2 with language_embeddings; arXiv:1902.09697 without, in both directions",
)

MULTILINGUAL_BILM = BILM.variant(
    name="multilingual BiLM",
    aliases=("polyglot LM", "Rosita"),
    needs=MULTILINGUAL_LM.needs,
    stages=(ShiftRight(), DropLanguageIds(), SeeLeft(), AskNext(weight=HALF)),
    auxiliary=(
        (
            1.0,
            replace(
                BACKWARD_LM,
                stages=(ShiftRight("right"), DropLanguageIds(), SeeRight(), AskNext("right", weight=HALF)),
            ),
        ),
    ),
    idea=(
        "Two language models, one from the left and one from the right, of texts of several languages. They share "
        "their words, never mix, and must see which language they read."
    ),
    source="arXiv:1902.09697, sec. 2",
)
