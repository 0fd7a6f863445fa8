"""XLM: translation language modelling, alone and in alternation with CLM and MLM in one language."""

from playground.objectives.arrange import ArrangeLanguage, ArrangePair, ShiftRight
from playground.objectives.ask import AskMasked, AskNext
from playground.objectives.catalog.lm import NEXT
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture, renamed
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll, SeeLeft

TLM = Objective(
    name="TLM",
    aliases=("translation language model",),
    row="TLM",
    printed=Printed({"chosen": [2, 4]}, text="How are you", pair="Comment vas-tu"),
    group="Two texts",
    needs=("translation",),
    stages=(
        ArrangePair(("translation",), pair_format="xlm", reset_position_ids=True),
        ChooseTokens(num_special_tokens=4),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
    ),
    idea="Hide words in a sentence and in its translation; each can be found with the help of the other language.",
    loss="Mean cross-entropy of the hidden words of both languages.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x}, \hat{y})"),),
    source="arXiv:1901.07291, sec. 3.4",
)

ONE_LANGUAGE = TLM.variant(
    name="MLM in either language",
    aliases=("XLM's MLM",),
    needs=("translation", "stream"),
    stages=(ArrangeLanguage(filled=True), ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide words in text of one of two languages; every position has an embedding of its language.",
    loss="Mean cross-entropy of the hidden words given the corrupted text.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})"),),
    source="arXiv:1901.07291, sec. 3.3 and 5.1",
)

CLM = ONE_LANGUAGE.variant(
    name="CLM in either language",
    aliases=("XLM's CLM",),
    group="Language models",
    stages=(ArrangeLanguage(filled=True), ShiftRight(), SeeLeft(), AskNext()),
    idea="Predict each word of a text from the words to its left; every position has an embedding of its language.",
    loss="Mean cross-entropy of every word given those before it.",
    terms=(NEXT,),
    source="arXiv:1901.07291, sec. 3.2 and 5.1",
)

XLM = mixture(
    "XLM",
    (
        (1 / 3, CLM),
        (1 / 3, renamed(ONE_LANGUAGE, "hidden words", "hidden words, one language")),
        (1 / 3, renamed(TLM, "hidden words", "hidden words, two languages")),
    ),
    alternating=True,
    aliases=("XLM CLM + MLM + TLM",),
    group="Two texts",
    idea="Steps alternate: predict the next word in one language, hidden words in one language, then those in "
    "sentences with their translations.",
    loss="Mean cross-entropy of the next word, then of the hidden words in one language and in both, step by step.",
    source="arXiv:1901.07291, sec. 3.2-3.4",
)
